"""The operators' pages: what each group sees and may do, and that only services change anything."""

import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from accounts import keys, services
from accounts.models import Account, ApiKey
from tests.accounts.calling import call, granted

ACCOUNTS, KEYS = "/admin/accounts/account/", "/admin/accounts/apikey/"


@pytest.fixture
def as_one_of() -> Callable[[str], Client]:
    """The session of an operator of this group."""

    def sign_in(group: str) -> Client:
        user = User.objects.create_user(uuid.uuid4().hex, is_staff=True)
        user.groups.add(Group.objects.get(name=group))
        client = Client(SERVER_NAME="localhost")
        client.force_login(user)
        return client

    return sign_in


def text_of(answer: Any) -> str:
    assert answer.status_code == 200
    text: str = answer.content.decode()
    return text


def actions_on(account: Account, key: ApiKey) -> dict[str, dict[str, str]]:
    """Every page that changes something, with what to send it."""
    return {
        f"{ACCOUNTS}add/": {"email": f"{uuid.uuid4().hex}@example.com"},
        f"{ACCOUNTS}{account.pk}/issue_key/": {"label": "x"},
        f"{ACCOUNTS}{account.pk}/change_terms/": {"plan": "pro"},
        f"{ACCOUNTS}{account.pk}/suspend/": {"confirmed": "yes", "reason": "unpaid"},
        f"{KEYS}{key.pk}/change_scopes/": {"scopes": "checkpoints:read"},
        f"{KEYS}{key.pk}/revoke/": {"confirmed": "yes"},
    }


def test_viewers_see_everything_and_change_nothing(as_one_of: Callable[[str], Client], account: Account):
    key, _ = services.issue_key(account)
    viewer, before = as_one_of("viewers"), Account.objects.count()
    for path in (ACCOUNTS, KEYS, f"{ACCOUNTS}{account.pk}/change/", f"{KEYS}{key.pk}/change/"):
        assert not re.search(
            r"Issue key|\bSuspend\b|\bRevoke\b|Change scopes|_selected_action", text_of(viewer.get(path))
        )
    for path, fields in actions_on(account, key).items():
        assert viewer.get(path).status_code == 403
        assert viewer.post(path, fields).status_code == 403
    viewer.post(ACCOUNTS, {"action": "suspend_selected", "_selected_action": str(account.pk), "confirmed": "yes"})
    viewer.post(KEYS, {"action": "revoke_selected", "_selected_action": str(key.pk), "confirmed": "yes"})
    key.refresh_from_db()
    assert (key.revoked_at, key.account.status, account.keys.count()) == (None, "active", 1)
    assert Account.objects.count() == before


@pytest.mark.parametrize("group", ["support", "administrators"])
def test_support_manages_accounts_and_keys(as_one_of: Callable[[str], Client], account: Account, group: str):
    key, _ = services.issue_key(account)
    operator = as_one_of(group)
    for path, fields in actions_on(account, key).items():
        text_of(operator.get(path))
        if "issue_key" not in path:
            assert operator.post(path, fields).status_code == 302, path
    key.refresh_from_db()
    assert (key.scopes, bool(key.revoked_at)) == (["checkpoints:read"], True)
    assert (key.account.status, key.account.plan) == ("suspended", "pro")


def test_only_administrators_manage_operators(as_one_of: Callable[[str], Client]):
    assert as_one_of("support").get("/admin/auth/user/").status_code == 403
    administrator = as_one_of("administrators")
    name, password = uuid.uuid4().hex, uuid.uuid4().hex
    new = {"username": name, "usable_password": "true", "password1": password, "password2": password}
    assert administrator.post("/admin/auth/user/add/", new).status_code == 302
    assert User.objects.get(username=name).is_staff


def test_whoever_is_no_operator_is_sent_to_sign_in(account: Account):
    answer = Client(SERVER_NAME="localhost").get(f"{ACCOUNTS}{account.pk}/change/")
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/admin/login/")


def test_nothing_is_done_before_it_is_confirmed(admin_client: Client, account: Account):
    path = f"{ACCOUNTS}{account.pk}/suspend/"
    assert account.email in text_of(admin_client.get(path))
    assert account.email in text_of(admin_client.post(path))
    bulk = admin_client.post(ACCOUNTS, {"action": "suspend_selected", "_selected_action": str(account.pk)})
    assert account.email in text_of(bulk)
    assert "This field is required" in text_of(admin_client.post(path, {"confirmed": "yes", "reason": " "}))
    account.refresh_from_db()
    assert account.status == "active"


def test_a_bulk_action_acts_on_all_that_were_chosen(admin_client: Client, make_account: Callable[..., Account]):
    accounts = [make_account() for _ in range(3)]
    chosen = {"_selected_action": [str(account.pk) for account in accounts], "confirmed": "yes", "reason": "abuse"}
    for action, status in (("suspend_selected", "suspended"), ("reactivate_selected", "active")):
        assert admin_client.post(ACCOUNTS, {"action": action, **chosen}).status_code == 302
        assert {Account.objects.get(pk=account.pk).status for account in accounts} == {status}
    assert LogEntry.objects.filter(object_id__in=chosen["_selected_action"]).count() == 6


@pytest.mark.parametrize("path", ["delete/", "delete/?_popup=1"])
def test_there_is_no_deleting(admin_client: Client, account: Account, path: str):
    key, _ = services.issue_key(account)
    assert admin_client.post(f"{ACCOUNTS}{account.pk}/{path}", {"post": "yes"}).status_code == 403
    assert admin_client.post(f"{KEYS}{key.pk}/{path}", {"post": "yes"}).status_code == 403
    admin_client.post(KEYS, {"action": "delete_selected", "_selected_action": str(key.pk), "post": "yes"})
    assert ApiKey.objects.filter(pk=key.pk).exists()


def test_a_row_cannot_be_edited_in_its_page(admin_client: Client, account: Account):
    answer = admin_client.post(f"{ACCOUNTS}{account.pk}/change/", {"email": "x@example.com", "status": "closed"})
    assert answer.status_code == 403
    account.refresh_from_db()
    assert account.status == "active"


def issue(client: Client, account: Account, **fields: Any) -> Any:
    path = f"{ACCOUNTS}{account.pk}/issue_key/"
    ticket = re.search(r'name="ticket" value="([^"]+)"', text_of(client.get(path)))
    assert ticket
    fields = {"label": "browser", "scopes": list(keys.SCOPES), "ticket": ticket[1], **fields}
    return client.post(path, fields), lambda: client.post(path, fields, follow=True)


def test_a_key_is_issued_and_its_secret_shown_once(admin_client: Client, account: Account):
    answer, again = issue(admin_client, account, expires="30")
    secret = re.search(r"snp_[0-9a-f]{32}", text_of(answer))
    assert secret
    assert granted([call(secret[0])]) == 1
    assert "no-store" in answer["Cache-Control"]
    assert not re.search(r"snp_[0-9a-f]{9}", text_of(again()))
    [key] = account.keys.all()
    assert key.label == "browser"
    assert key.expires_at is not None
    assert timedelta(days=29) < key.expires_at - timezone.now() <= timedelta(days=30)


def test_a_key_may_be_issued_without_any_scope(admin_client: Client, account: Account):
    issue(admin_client, account, scopes=[])
    assert account.keys.get().scopes == []


def test_the_form_says_why_a_key_is_not_issued(admin_client: Client, account: Account):
    for _ in range(settings.MAX_API_KEYS_PER_ACCOUNT):
        services.issue_key(account)
    assert "at most 10 keys in use" in text_of(issue(admin_client, account)[0])
    assert "Select a valid choice" in text_of(issue(admin_client, account, scopes=["admin"])[0])


def test_an_account_is_added_by_a_form(admin_client: Client):
    email = f"{uuid.uuid4().hex}@example.com"
    answer = admin_client.post(f"{ACCOUNTS}add/", {"email": email.upper(), "name": "Acme"})
    account = Account.objects.get(email=email)
    assert answer["Location"] == f"{ACCOUNTS}{account.pk}/change/"
    assert "Another account has this email" in text_of(admin_client.post(f"{ACCOUNTS}add/", {"email": email.title()}))


def test_plan_and_limit_are_changed_by_a_form(admin_client: Client, account: Account):
    path = f"{ACCOUNTS}{account.pk}/change_terms/"
    assert "whole number" in text_of(admin_client.post(path, {"plan": "pro", "rate_limit_max": "many"}))
    shown = {"initial-plan": account.plan, "initial-rate_limit_max": account.rate_limit_max}
    admin_client.post(path, {"plan": "pro", "rate_limit_max": "", **shown})
    account.refresh_from_db()
    assert (account.plan, account.rate_limit_max) == ("pro", None)


@pytest.mark.parametrize("field", ["email", "name", "id"])
def test_an_account_is_found(admin_client: Client, make_account: Callable[..., Account], field: str):
    wanted, other = make_account(), make_account()
    page = text_of(admin_client.get(ACCOUNTS, {"q": str(getattr(wanted, field)).upper()}))
    assert str(wanted.pk) in page
    assert str(other.pk) not in page


def test_accounts_are_filtered_by_status_and_plan(admin_client: Client, make_account: Callable[..., Account]):
    plan = uuid.uuid4().hex
    accounts = [services.update_account(make_account(), plan=plan) for _ in range(2)]
    services.suspend_account(accounts[0])
    page = text_of(admin_client.get(ACCOUNTS, {"plan": plan, "status__exact": "suspended"}))
    assert [str(account.pk) in page for account in accounts] == [True, False]


@pytest.mark.parametrize(("state", "shown"), [("in_use", 0), ("expired", 1), ("revoked", 2)])
def test_keys_are_filtered_by_state(admin_client: Client, account: Account, state: str, shown: int):
    issued = [services.issue_key(account)[0] for _ in range(3)]
    ApiKey.objects.filter(pk=issued[1].pk).update(expires_at=timezone.now())
    services.revoke_key(issued[2])
    page = text_of(admin_client.get(KEYS, {"state": state, "q": account.email}))
    assert [str(key.pk) in page for key in issued] == [index == shown for index in range(3)]


def test_a_page_of_accounts_costs_the_same_however_long_it_is(
    admin_client: Client, make_account: Callable[..., Account], statements: list[str]
):
    for _ in range(12):
        make_account()
    admin_client.get(ACCOUNTS)
    statements.clear()
    text_of(admin_client.get(ACCOUNTS))
    assert len(statements) <= 9
    assert len([statement for statement in statements if "billing_usagerecord" in statement]) == 1


def test_markup_in_names_stays_text(admin_client: Client):
    account = services.create_account(email=f"{uuid.uuid4().hex}@example.com", name="<script>alert(1)</script>")
    services.issue_key(account, label="<b>bold</b>")
    for path in (ACCOUNTS, f"{ACCOUNTS}{account.pk}/change/", KEYS, f"{ACCOUNTS}{account.pk}/suspend/"):
        page = text_of(admin_client.get(path, {"q": account.email} if path in (ACCOUNTS, KEYS) else {}))
        assert "<script>alert" not in page
        assert "<b>bold" not in page


@pytest.mark.parametrize("query", [{"q": "\x00"}, {"status__exact": "x"}, {"p": "x"}, {"o": "99"}, {"state": "x"}])
def test_odd_queries_do_no_harm(admin_client: Client, query: dict[str, str]):
    for path in (ACCOUNTS, KEYS):
        assert admin_client.get(path, query).status_code in (200, 302, 400)


@pytest.mark.parametrize("row", ["x", "00000000-0000-4000-8000-000000000000"])
def test_pages_of_rows_that_are_not_there(admin_client: Client, row: str):
    for path in ("change/", "suspend/", "reactivate/", "issue_key/", "change_terms/"):
        assert admin_client.get(f"{ACCOUNTS}{row}/{path}").status_code in (302, 403, 404)
    for path in ("change/", "revoke/", "change_scopes/"):
        assert admin_client.get(f"{KEYS}{row}/{path}").status_code in (302, 404)
