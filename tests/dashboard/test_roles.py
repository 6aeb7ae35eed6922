"""Each group against each action: who may do what, as one table, in views and in bulk actions alike."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from accounts import closing, services
from accounts.models import Account

ACCOUNTS, KEYS = "/admin/accounts/account", "/admin/accounts/apikey"
GROUPS = ("viewers", "support", "finance", "administrators")
YES = {"confirmed": "yes", "reason": "because"}

# action: who may
TABLE = {
    "add an account": ("support", "administrators"),
    "issue a key": ("support", "administrators"),
    "revoke a key": ("support", "administrators"),
    "change scopes": ("support", "administrators"),
    "change terms": ("support", "finance", "administrators"),
    "suspend": ("support", "administrators"),
    "reactivate": ("support", "administrators"),
    "schedule a deletion": ("administrators",),
    "undo a deletion": ("administrators",),
    "read the audit log": ("administrators",),
    "manage operators": ("administrators",),
    "reset a second factor": ("administrators",),
    "unlock a sign-in": ("administrators",),
    "see invoices": ("finance", "administrators"),
    "see usage": GROUPS,
    "see workflows": GROUPS,
}


def act(client: Client, action: str, account: Account) -> Any:
    """Once as that operator would by hand; for actions, the POST that does it."""
    row, user = f"{ACCOUNTS}/{account.pk}", User.objects.filter(is_superuser=True).latest("pk")
    key = account.keys.latest("created_at")
    calls: dict[str, Callable[[], Any]] = {
        "add an account": lambda: client.post(f"{ACCOUNTS}/add/", {"email": f"{uuid.uuid4().hex}@example.com"}),
        "issue a key": lambda: client.get(f"{row}/issue_key/"),
        "revoke a key": lambda: client.post(f"{KEYS}/{key.pk}/revoke/", YES),
        "change scopes": lambda: client.post(f"{KEYS}/{key.pk}/change_scopes/", {"scopes": "checkpoints:read"}),
        "change terms": lambda: client.post(f"{row}/change_terms/", {"plan": "pro"}),
        "suspend": lambda: client.post(f"{row}/suspend/", YES),
        "reactivate": lambda: client.post(f"{row}/reactivate/", YES),
        "schedule a deletion": lambda: client.post(f"{row}/schedule_deletion/", {**YES, "days": 7}),
        "undo a deletion": lambda: client.post(f"{row}/undo_deletion/", YES),
        "read the audit log": lambda: client.get("/admin/auditlog/logentry/"),
        "manage operators": lambda: client.get("/admin/auth/user/add/"),
        "reset a second factor": lambda: client.post(f"/admin/auth/user/{user.pk}/reset_second_factor/", YES),
        "unlock a sign-in": lambda: client.post(f"/admin/auth/user/{user.pk}/unlock/", YES),
        "see invoices": lambda: client.get("/admin/billing/invoice/"),
        "see usage": lambda: client.get("/admin/billing/usagerecord/"),
        "see workflows": lambda: client.get("/admin/checkpoints/workflow/"),
    }
    return calls[action]()


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("action", TABLE)
def test_who_may_do_what(
    member: Callable[[str], Client], operator: Callable[..., Any], account: Account, action: str, group: str
):
    operator()
    services.issue_key(account)
    if action == "reactivate":
        services.suspend_account(account)
    if action == "undo a deletion":
        closing.schedule_deletion(account, reason="x")
    answer = act(member(group), action, account)
    assert answer.status_code in ((200, 302) if group in TABLE[action] else (403,))


@pytest.mark.parametrize("group", GROUPS)
def test_bulk_actions_ask_the_same(member: Callable[[str], Client], account: Account, group: str):
    services.issue_key(account)
    client, key = member(group), account.keys.get()
    client.post(f"{ACCOUNTS}/", {"action": "suspend_selected", "_selected_action": str(account.pk), **YES})
    client.post(f"{KEYS}/", {"action": "revoke_selected", "_selected_action": str(key.pk), **YES})
    account.refresh_from_db()
    key.refresh_from_db()
    assert (account.status == "suspended") is (group in TABLE["suspend"])
    assert (key.revoked_at is not None) is (group in TABLE["revoke a key"])


@pytest.mark.parametrize("group", GROUPS)
def test_a_page_offers_only_what_it_would_do(member: Callable[[str], Client], account: Account, group: str):
    services.issue_key(account)
    page = member(group).get(f"{ACCOUNTS}/{account.pk}/change/").content.decode()
    offered = {
        "issue a key": "issue_key/" in page,
        "revoke a key": ">Revoke<" in page,
        "change terms": "change_terms/" in page,
        "suspend": "/suspend/" in page,
        "schedule a deletion": "schedule_deletion/" in page,
    }
    assert offered == {action: group in TABLE[action] for action in offered}
    assert ("Estimated charge" in page) is (group in TABLE["see invoices"])
    assert ("Stripe has told of no invoice" in page) is (group in TABLE["see invoices"])


@pytest.mark.parametrize("group", GROUPS)
def test_only_who_may_sees_what_is_earned(member: Callable[[str], Client], group: str):
    page = member(group).get("/admin/").content.decode()
    assert ("Estimated revenue" in page) is (group in ("finance", "administrators"))
    assert ("Audit log" in page) is (group == "administrators")


def test_whoever_is_in_no_group_sees_the_sums_and_no_rows(account: Account):
    user = User.objects.create_user(uuid.uuid4().hex, is_staff=True)
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)
    page = client.get("/admin/").content.decode()
    assert "Recent activity" not in page
    assert "/admin/accounts/account/" not in page
    assert account.email not in page
