"""Every action of every page, called by hand: nothing happens by GET, and nothing for who may only look."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from auditlog.models import LogEntry
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account
from billing.models import MeterReport
from billing.periods import month_of
from checkpoints.models import ArchiveProblem, Workflow
from snapstate_project.events.models import Event

EVERYTHING = {
    "confirmed": "yes",
    "reason": "x",
    "days": "3",
    "typed": "report",
    "_form_submitted": "1",
    "event_id": "1",
    "plan": "pro",
    "scopes": "checkpoints:read",
    "email": "new@example.com",
    "username": "new",
    "name": "new",
    "since": "2026-01-01T00:00",
    "until": "2027-01-01T00:00",
    "post": "yes",
    "action": "delete_selected",
}
LOOKS = ("see_deliveries",)


@pytest.fixture
def rows(worked: None, account: Account) -> dict[type[Any], Any]:
    """One of each kind, where there is any."""
    workflow = Workflow.objects.filter(account=account).latest("id")
    ArchiveProblem.objects.get_or_create(workflow=workflow, defaults={"reason": "gone"})
    MeterReport.objects.create(
        account=account, month=month_of(timezone.now())[0].date(), meter="checkpoint_writes", start=0, units=1,
        identifier=uuid.uuid4().hex, at=timezone.now(), state="doubtful",
    )  # fmt: skip
    found = {model: model._default_manager.order_by("-pk").first() for model in admin.site._registry}
    return {model: row for model, row in found.items() if row is not None} | {Account: account}


def calls(rows: dict[type[Any], Any]) -> Iterator[tuple[str, str]]:
    """(what, path)"""
    for model, row in rows.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        its_admin: Any = admin.site._registry[model]
        for each in its_admin._extract_action_names(its_admin.actions_detail):
            yield each, reverse(f"{name}_{each}", args=[row.pk])
        for each in its_admin._extract_action_names(getattr(its_admin, "actions_list", ())):
            yield each, reverse(f"{name}_{each}")
        yield "change", reverse(f"{name}_change", args=[row.pk])
        yield "delete", reverse(f"{name}_delete", args=[row.pk])
        yield "add", reverse(f"{name}_add")


def changes() -> int:
    return int(LogEntry.objects.exclude(action=LogEntry.Action.ACCESS).count())


def test_looking_changes_nothing(admin_client: Client, rows: dict[type[Any], Any]):
    before = changes()
    for _, path in calls(rows):
        assert admin_client.get(path, EVERYTHING).status_code in (200, 302, 403), path
        assert changes() == before, path


@pytest.mark.parametrize("group", ["viewers", ""])
def test_who_may_only_look_changes_nothing(member: Callable[[str], Client], rows: dict[type[Any], Any], group: str):
    client = member(group) if group else nobody()
    before = changes()
    for what, path in calls(rows):
        allowed = (200, 302, 403) if what in LOOKS and group else (403,)
        assert client.post(path, EVERYTHING).status_code in allowed, path
        assert client.put(path, EVERYTHING).status_code in (*allowed, 200), path
        if not group:
            assert client.get(path).status_code == 403, path
    assert changes() == before


def nobody() -> Client:
    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.create_user(uuid.uuid4().hex, is_staff=True))
    return client


@pytest.mark.parametrize("group", ["viewers", "support", "finance"])
def test_a_state_is_on_no_page_of_those_who_may_not_see_one(
    member: Callable[[str], Client], api: Any, intake: Callable[[], None], account: Account, group: str
):
    for step in (1, 2):
        state = {"key": f"very-secret-{step}", "n": [step]}
        body = {"workflow_id": "hidden", "step": step, "state": state, "metadata": {"m": "very-secret"}}
        api.post("/checkpoints", json=body).raise_for_status()
    intake()
    client, workflow = member(group), Workflow.objects.get(account=account, workflow_id="hidden")
    base = f"/admin/checkpoints/workflow/{workflow.pk}"
    paths = [
        f"{base}/{page}" for page in ("change/", "history/", "diff/", "diff/?from=1&to=2", "state/1/", "download/")
    ]
    paths += [
        f"/admin/events/event/?q={account.pk}",
        f"/admin/webhooks/delivery/?q={account.pk}",
        "/admin/",
        "/admin/search/?s=very-secret",
    ]
    paths += [f"/admin/events/event/{each.pk}/change/" for each in Event.objects.filter(account_id=account.pk)]
    for path in paths:
        assert "very-secret" not in b"".join(client.get(path)).decode().replace("s=very-secret", ""), path
