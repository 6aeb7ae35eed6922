"""What customers write stands on operators' pages as text: no tag, no attribute, nothing that the theme would run."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from accounts import services
from accounts.models import Account
from checkpoints.models import Workflow

MARK = """<i id=evil>"'><img src=x onerror=evil()>{{evil}}`${evil()}`\u202e"""
MEANT_TO_RUN = re.compile(r"^(x-|@|:|on|hx-)")


class Evil(HTMLParser):
    """Tags that came of the text, and where it stands in what the theme evaluates."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Any] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id") == "evil" or "onerror" in values:
            self.found.append((tag, attrs))
        self.found += [(tag, each) for each in attrs if MEANT_TO_RUN.match(each[0]) and "evil" in (each[1] or "")]


def evil_in(page: str) -> list[Any]:
    parser = Evil()
    parser.feed(page)
    return parser.found


@pytest.fixture
def written(api: httpx.Client, account: Account, intake: Callable[[], None]) -> Workflow:
    services.issue_key(account, label=MARK)
    Account.objects.filter(pk=account.pk).update(name=MARK, status_reason=MARK)
    error = {"type": MARK, "message": MARK}
    for step in (1, 2):
        body = {"workflow_id": MARK, "step": step, "state": {MARK: step, "v": MARK}, "label": MARK, "error": error}
        saved = {**body, "metadata": {MARK: MARK}, "agent_id": "evil", "status": "failed"}
        api.post("/checkpoints", json=saved).raise_for_status()
    api.post("/agents", json={"agent_id": "evil", "name": MARK, "description": MARK}).raise_for_status()
    url = "https://example.com/?" + MARK.replace(" ", "").replace("\u202e", "")
    hook = {"url": url, "events": ["checkpoint.saved"], "description": MARK}
    api.post("/webhooks", json=hook).raise_for_status()
    intake()
    return Workflow.objects.get(account=account, workflow_id=MARK)


def rows() -> list[str]:
    found = []
    registry: dict[Any, Any] = admin.site._registry
    for model, model_admin in registry.items():
        row = model._default_manager.order_by("-pk").first()
        if row is not None:
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            found.append(reverse(f"{name}_changelist"))
            found += [reverse(f"{name}_{page}", args=[row.pk]) for page in ("change", "history")]
            found += [
                reverse(f"{name}_{each}", args=[row.pk])
                for each in model_admin._extract_action_names(model_admin.actions_detail)
                if each != "download"
            ]
    return found


def test_it_is_text_on_every_page(admin_client: Client, account: Account, written: Workflow):
    base = f"/admin/checkpoints/workflow/{written.pk}"
    paths = {
        *rows(), "/admin/", "/admin/system/", f"{base}/change/", f"{base}/diff/", f"{base}/state/2/", f"{base}/erase/",
        f"/admin/accounts/account/{account.pk}/change/", f"/admin/accounts/account/{account.pk}/suspend/",
        f"/admin/search/?s={account.email}", "/admin/checkpoints/workflow/?q=%3Ci+id%3Devil",
        "/admin/search/?s=%3Ci+id%3Devil%3E",
        "/admin/checkpoints/workflow/?label=%22%3E%3Ci+id%3Devil%3E%27evil",
    }  # fmt: skip
    pages = {path: admin_client.get(path, follow=True) for path in paths}
    assert {
        path: evil_in(page.content.decode()) for path, page in pages.items() if evil_in(page.content.decode())
    } == {}
    assert sum("&lt;i id=evil&gt;" in page.content.decode() for page in pages.values()) > 8


def test_it_is_text_in_messages_too(admin_client: Client, account: Account, written: Workflow):
    base = f"/admin/checkpoints/workflow/{written.pk}"
    pinned = admin_client.post(f"{base}/pin/", {"confirmed": "yes"}, follow=True).content.decode()
    assert "&lt;i id=evil&gt;" in pinned
    wrong = admin_client.post(f"{base}/erase/", {"confirmed": "yes", "typed": MARK + "x"}).content.decode()
    shown = admin_client.post(
        f"/admin/accounts/account/{account.pk}/suspend/", {"confirmed": "yes", "reason": MARK}, follow=True
    ).content.decode()
    audit = admin_client.get("/admin/auditlog/logentry/").content.decode()
    assert [evil_in(page) for page in (pinned, wrong, shown, audit)] == [[], [], [], []]
