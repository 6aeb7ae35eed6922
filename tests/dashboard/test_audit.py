"""The audit log: who changed what, from what to what, in the change's own transaction; and never a secret."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from auditlog.models import LogEntry
from django.contrib.admin.models import CHANGE
from django.contrib.admin.models import LogEntry as PageEntry
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts import keys, second_factor, services
from accounts.models import Account
from agents_app.models import Agent
from checkpoints.models import Workflow
from snapstate_project import audit
from snapstate_project.common.audit import record, record_look
from webhooks.models import Endpoint

ACCOUNTS, KEYS = "/admin/accounts/account", "/admin/accounts/apikey"


def entries(row: Any) -> list[LogEntry]:
    return list(LogEntry.objects.get_for_object(row).order_by("id"))


def test_a_change_on_a_page_tells_who_what_before_and_after(admin_client: Client, account: Account):
    admin_client.post(f"{ACCOUNTS}/{account.pk}/suspend/", {"confirmed": "yes", "reason": "spam"})
    last = entries(account)[-1]
    user = User.objects.get(pk=admin_client.session["_auth_user_id"])
    assert (last.actor, last.actor_email, last.remote_addr) == (user, user.username, "127.0.0.1")
    assert last.changes["status"] == ["active", "suspended"]
    assert last.changes["status_reason"] == ["", "spam"]
    assert uuid.UUID(last.cid)


def test_the_admin_apis_changes_are_its_own(operator_api: httpx.Client, account: Account):
    answer = operator_api.patch(f"/admin/accounts/{account.pk}", json={"plan": "pro", "rate_limit_max": 5})
    last = entries(account)[-1]
    assert (last.actor, last.actor_email) == (None, "Admin API")
    assert last.changes == {"plan": ["free", "pro"], "rate_limit_max": ["1000000", "5"]}
    assert last.cid == answer.headers["X-Request-Id"]


def test_what_nobody_asked_for_is_the_services_own(account: Account):
    services.hold_for_payment(account)
    last = entries(account)[-1]
    assert (last.actor_email, last.changes["held_for_payment"]) == ("SnapState", ["False", "True"])


def test_keys_are_followed_from_issue_to_revocation_without_their_secret(admin_client: Client, account: Account):
    key, secret = services.issue_key(account, label="mine")
    admin_client.post(f"{KEYS}/{key.pk}/change_scopes/", {"scopes": "checkpoints:read"})
    admin_client.post(f"{KEYS}/{key.pk}/revoke/", {"confirmed": "yes"})
    issued, scoped, revoked = entries(key)
    assert issued.changes["label"] == ["None", "mine"]
    assert "checkpoints:read" in scoped.changes["scopes"][1]
    assert revoked.changes["revoked_at"][0] == "None"
    text = str([(entry.changes, entry.object_repr, entry.additional_data) for entry in (issued, scoped, revoked)])
    assert secret not in text
    assert keys.digest(secret) not in text


def test_operators_and_their_groups_are_followed_without_their_passwords(admin_client: Client):
    user = User.objects.create_user(uuid.uuid4().hex, is_staff=True, password="first password")
    new = {"usable_password": "true", "password1": "another secret 9", "password2": "another secret 9"}
    assert admin_client.post(f"/admin/auth/user/{user.pk}/password/", new).status_code == 302
    user.groups.add(Group.objects.get(name="support"))
    changed = [entry.changes for entry in entries(user)]
    assert {"password": [audit.MASK, audit.MASK]} in changed
    assert changed[-1]["groups"]["objects"] == ["support"]
    assert "argon2" not in str(changed)
    assert "secret 9" not in str(changed)


def test_second_factors_leave_a_trace_and_no_key(operator: Callable[..., Any]):
    user = operator()
    key = second_factor.offered_to(user).key
    second_factor.turn_off(user)
    [last] = [entry for entry in entries(user) if entry.additional_data]
    assert last.additional_data == {"what": "Second factor turned off"}
    assert key not in str(list(LogEntry.objects.values_list("changes", "additional_data")))


def change_and_fail(account: Account) -> None:
    with transaction.atomic():
        account.plan = "pro"
        account.save()
        record(account, "Something")
        raise RuntimeError


def test_what_did_not_happen_is_not_in_it(account: Account):
    before = len(entries(account))
    with pytest.raises(RuntimeError):
        change_and_fail(account)
    assert len(entries(account)) == before


def test_what_a_service_has_told_is_told_once(admin_client: Client, api: httpx.Client, account: Account):
    """A page notes it in the row's history as well."""
    api.post("/webhooks", json={"url": "https://example.com/", "events": ["checkpoint.saved"]}).raise_for_status()
    hook = Endpoint.objects.get(account=account)
    form = {"confirmed": "yes", "reason": "it takes no more"}
    admin_client.post(f"/admin/webhooks/endpoint/{hook.pk}/disable/", form)
    [last] = entries(hook)
    assert last.changes["status"] == ["active", "disabled"]
    assert last.actor_email == User.objects.get(pk=admin_client.session["_auth_user_id"]).username


def test_what_only_a_page_notes_is_in_it_too(operator: Callable[..., Any], api: httpx.Client, account: Account):
    api.post("/agents", json={"agent_id": "writer"}).raise_for_status()
    agent = Agent.objects.get(account=account)
    PageEntry.objects.log_actions(operator().pk, [agent], CHANGE, "Looked after.", single_object=True)
    [last] = entries(agent)
    assert last.additional_data == {"what": "Looked after."}


def test_a_workflow_goes_by_its_digest_for_its_name_can_be_erased(
    api: httpx.Client, account: Account, intake: Callable[[], None]
):
    body = {"workflow_id": "Ms Smith's divorce", "step": 1, "state": {}}
    api.post("/checkpoints", json=body).raise_for_status()
    intake()
    workflow = Workflow.objects.get(account=account)
    entry = record_look(workflow, "State of step 1 shown")
    assert entry.object_repr == f"workflow {bytes(workflow.digest).hex()}"
    assert entry.action == LogEntry.Action.ACCESS


def test_what_was_and_is_stands_in_it_only_where_they_differ(account: Account):
    entry = record(
        account, "Moved", before={"tier": "live", "pinned": False}, after={"tier": "archive", "pinned": False}
    )
    assert entry.changes == {"tier": ["live", "archive"]}


def test_administrators_read_it_and_nobody_writes_it(admin_client: Client, account: Account):
    admin_client.post(f"{ACCOUNTS}/{account.pk}/change_terms/", {"plan": "gold"})
    last = entries(account)[-1]
    listed = admin_client.get("/admin/auditlog/logentry/", {"q": str(account.pk)}).content.decode()
    assert "plan" in listed
    page = admin_client.get(f"/admin/auditlog/logentry/{last.pk}/change/").content.decode()
    assert "gold" in page
    for act in ("change/", "delete/"):
        answer = admin_client.post(f"/admin/auditlog/logentry/{last.pk}/{act}", {"post": "yes"})
        assert answer.status_code == 403
    assert admin_client.get("/admin/auditlog/logentry/add/").status_code == 403


def test_it_reads_as_people_write(admin_client: Client, account: Account):
    """A workflow's name begins with its kind already, and lists are no Python."""
    workflow = Workflow.objects.create(account=account, workflow_id="w", digest=uuid.uuid4().bytes, head_step=1)
    record_look(workflow, "State of step 1 shown")
    key, _ = services.issue_key(account)
    services.change_scopes(key, ["checkpoints:read", "webhooks:manage"])
    listed = admin_client.get("/admin/auditlog/logentry/", {"q": str(workflow.pk)}).content.decode()
    assert f">{workflow.digest.hex()}</a>" in listed
    page = admin_client.get(f"/admin/auditlog/logentry/{entries(key)[-1].pk}/change/").content.decode()
    assert ">checkpoints:read, webhooks:manage</td>" in page


def test_what_is_no_list_is_shown_as_it_was_written(admin_client: Client, account: Account):
    services.suspend_account(account, reason="['x']")
    page = admin_client.get(f"/admin/auditlog/logentry/{entries(account)[-1].pk}/change/").content.decode()
    assert "[&#x27;x&#x27;]</td>" in page


def test_it_is_kept_for_a_year(account: Account):
    old, young = record(account, "Old"), record(account, "Young")
    now = timezone.now()
    LogEntry.objects.filter(pk=old.pk).update(timestamp=now - timedelta(days=366))
    LogEntry.objects.filter(pk=young.pk).update(timestamp=now - timedelta(days=364))
    assert audit.prune_audit_log(now=now, batch=1) == 1
    assert [entry.pk for entry in entries(account) if entry.pk in (old.pk, young.pk)] == [young.pk]
