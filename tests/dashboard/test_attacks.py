"""What an operator without the right, or somebody with a stolen password, would try by hand."""

import re
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.core import cache as caches
from django.db import connections
from django.test import Client, override_settings
from django.utils import timezone
from django_redis.cache import RedisCache

from accounts import second_factor
from accounts.models import Account
from billing.models import UsageRecord
from billing.periods import month_of
from checkpoints.models import Workflow
from snapstate_project.common import redis
from tests.dashboard.outage import NOWHERE
from tests.dashboard.test_sign_in import browser, code_of, enrolled, is_in, sign_in  # noqa: F401
from webhooks.models import Endpoint

YES = {"confirmed": "yes", "reason": "because"}


def test_no_list_can_be_asked_for_what_it_does_not_show(member: Callable[[str], Client], worked: None):
    """A secret that is never shown could be guessed letter by letter from which rows a filter leaves."""
    secret = Endpoint.objects.latest("id").secret
    viewer = member("viewers")
    for guess in (secret[:9], "whsec_-"):
        assert viewer.get(f"/admin/webhooks/endpoint/?secret__startswith={guess}").status_code == 400
    assert viewer.get("/admin/accounts/apikey/?digest__startswith=a").status_code == 400
    assert viewer.get("/admin/checkpoints/workflow/?workflow_id__regex=(a%2B)%2B%24").status_code == 400


def test_an_erase_stands_in_the_log_although_redis_is_down(
    admin_client: Client, worked: None, monkeypatch: pytest.MonkeyPatch
):
    workflow = Workflow.objects.filter(workflow_id="report").latest("id")
    with monkeypatch.context() as outage, override_settings(REDIS_URL="redis://127.0.0.1:1/0"):
        outage.setattr(redis, "client", lambda: NOWHERE)
        page = admin_client.post(
            f"/admin/checkpoints/workflow/{workflow.pk}/erase/", {"confirmed": "yes", "typed": "report"}, follow=True
        )
    assert Workflow.objects.get(pk=workflow.pk).head_step is None
    entries = LogEntry.objects.get_for_object(workflow)
    assert [entry.additional_data["what"] for entry in entries] == ["Erased."]
    assert "report" not in str([(entry.object_repr, entry.changes) for entry in entries])
    assert page.status_code == 200


def test_an_enrolment_sent_twice_does_not_turn_it_off_again(browser: Client, operator: Callable[..., Any]):  # noqa: F811
    """From two tabs, both of which offered the same key."""
    user = operator()
    sign_in(browser, user.username)
    browser.get("/admin/second-factor/")
    browser.post("/admin/second-factor/", {"code": code_of(user, ahead=-1)})
    browser.post("/admin/second-factor/", {"code": code_of(user)})
    assert second_factor.device_of(user) is not None


def test_two_tabs_are_offered_the_same_key(operator: Callable[..., Any]):
    user = operator()

    def offered(_: int) -> str:
        try:
            return str(second_factor.offered_to(user).key)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(offered, range(16)))) == 1


def test_a_session_from_before_the_second_factor_is_asked_for_it(browser: Client, operator: Callable[..., Any]):  # noqa: F811
    """Whoever had the password, and was in already, is out when its owner turns a second factor on."""
    user, thief = operator(), Client(SERVER_NAME="localhost")
    sign_in(browser, user.username)
    sign_in(thief, user.username)
    browser.get("/admin/second-factor/")
    browser.post("/admin/second-factor/", {"code": code_of(user, ahead=-1)})
    assert is_in(browser)
    assert not is_in(thief)
    assert "Second factor" in thief.get("/admin/login/").content.decode()


def test_the_search_answers_without_redis_and_whatever_page_is_asked_for(
    admin_client: Client, account: Account, monkeypatch: pytest.MonkeyPatch
):
    assert account.email in admin_client.get(f"/admin/search/?s={account.email}").content.decode()
    assert admin_client.get("/admin/search/?s=acc&page=abc").status_code == 200
    assert admin_client.get("/admin/search/?s=acc&page=999").status_code == 200
    handler: Any = caches.caches
    monkeypatch.setitem(handler._connections.__dict__, "default", RedisCache("redis://127.0.0.1:1/0", {}))
    assert account.email in admin_client.get(f"/admin/search/?s={account.email.upper()}").content.decode()


def test_the_search_finds_workflows_by_the_beginning_of_an_id_and_by_digest(
    admin_client: Client, account: Account, make_account: Callable[[], Account]
):
    word = f"w{uuid.uuid4().hex}"
    rows = [Workflow(account=owner, workflow_id=f"{word}-{owner.pk}", digest=uuid.uuid4().bytes, head_step=1)
            for owner in (account, make_account())]  # fmt: skip
    erased = Workflow(account=account, workflow_id=f"{word}-erased", digest=uuid.uuid4().bytes)
    Workflow.objects.bulk_create([*rows, erased])
    found = admin_client.get(f"/admin/search/?s={word}").content.decode()
    assert [f"/workflow/{row.pk}/change/" in found for row in (*rows, erased)] == [True, True, False]
    one = admin_client.get(f"/admin/search/?s={rows[0].digest.hex()}").content.decode()
    assert [f"/workflow/{row.pk}/change/" in one for row in rows] == [True, False]
    many = [
        Workflow(account=account, workflow_id=f"{word}{n}", digest=uuid.uuid4().bytes, head_step=1) for n in range(50)
    ]
    Workflow.objects.bulk_create(many)
    assert admin_client.get(f"/admin/search/?s={word}").content.count(b"/workflow/") == 20


def test_what_a_search_found_is_gone_with_the_right_to_it(member: Callable[[str], Client], account: Account):
    client = member("viewers")
    assert account.email in client.get(f"/admin/search/?s={account.email}").content.decode()
    User.objects.get(pk=client.session["_auth_user_id"]).groups.clear()
    assert account.email not in client.get(f"/admin/search/?s={account.email}").content.decode()


@pytest.mark.parametrize("group", ["viewers", "support", "finance", "administrators"])
def test_what_is_charged_is_for_those_who_may_see_it(member: Callable[[str], Client], account: Account, group: str):
    month = month_of(timezone.now())[0].date()
    record = UsageRecord.objects.create(account=account, month=month, checkpoint_writes=1_234_567)
    client = member(group)
    listed = client.get(f"/admin/billing/usagerecord/?q={account.pk}").content.decode()
    row = client.get(f"/admin/billing/usagerecord/{record.pk}/change/").content.decode()
    assert "1,234,567" in listed
    assert ("$1224.57" in listed) is (group in ("finance", "administrators"))
    assert ("$1,224.5670" in row) is (group in ("finance", "administrators"))


@pytest.mark.parametrize(
    "path", ["/admin/", "/admin/login/", "/admin/nothing/", "/admin/x%00y/", "/admin/login/?q=%00"]
)
def test_every_page_forbids_frames_and_foreign_scripts(admin_client: Client, path: str):
    for client in (admin_client, Client(SERVER_NAME="localhost")):
        answer = client.get(path)
        assert answer["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


@pytest.mark.parametrize(
    "odd",
    [
        {"username": "x" * 5000}, {"username": "a\x00b"}, {"username": "🤖" * 255}, {"password": "y" * 100_000},
        {"REMOTE_ADDR": "no address"}, {"REMOTE_ADDR": "192.0.2.1:443"}, {"REMOTE_ADDR": ""},
        {"REMOTE_ADDR": "fe80::1%eth0"}, {"HTTP_USER_AGENT": "u" * 5000}, {"HTTP_ACCEPT": "a" * 5000},
    ],
)  # fmt: skip
def test_an_odd_sign_in_is_just_a_wrong_one(browser: Client, odd: dict[str, str]):  # noqa: F811
    form = {"username": uuid.uuid4().hex, "password": "wrong"} | {k: v for k, v in odd.items() if k.islower()}
    meta: dict[str, Any] = {k: v for k, v in odd.items() if k.isupper()}
    assert browser.post("/admin/login/", form, **meta).status_code == 200


def test_an_address_that_is_none_does_not_stop_a_change(admin_client: Client, account: Account):
    page = f"/admin/accounts/account/{account.pk}/suspend/"
    assert admin_client.post(page, YES, REMOTE_ADDR="unknown").status_code == 302
    account.refresh_from_db()
    assert account.status == "suspended"


def test_a_key_is_issued_once_however_often_the_form_is_sent_at_once(admin_client: Client, account: Account):
    url = f"/admin/accounts/account/{account.pk}/issue_key/"
    ticket = re.search(r'name="ticket" value="([^"]+)"', admin_client.get(url).content.decode())
    assert ticket

    def send(_: int) -> int:
        client = Client(SERVER_NAME="localhost")
        client.cookies = admin_client.cookies
        try:
            return client.post(url, {"ticket": ticket[1], "scopes": "checkpoints:read"}).status_code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(4)))
    assert account.keys.count() == 1


def test_bulk_actions_take_only_what_was_ticked(admin_client: Client, make_account: Callable[..., Account]):
    first, second = make_account(), make_account()
    form = {"action": "suspend_selected", "select_across": "1", "_selected_action": str(first.pk), **YES}
    admin_client.post("/admin/accounts/account/", form)
    for each in (first, second):
        each.refresh_from_db()
    assert (first.status, second.status) == ("suspended", "active")
    odd = admin_client.post("/admin/accounts/account/", {**form, "_selected_action": "abc\x00"})
    assert odd.status_code in (200, 302, 400)


@pytest.mark.parametrize("kind", ["app", "recovery"])
def test_a_code_given_by_many_at_once_is_right_for_one(enrolled: tuple[Any, list[str]], kind: str):  # noqa: F811
    user, codes = enrolled
    code = code_of(user) if kind == "app" else codes[0]

    def give(_: int) -> bool:
        try:
            return second_factor.verify(user, code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(give, range(8))) == 1


def test_with_the_password_alone_no_page_opens(browser: Client, enrolled: tuple[Any, list[str]]):  # noqa: F811
    user, _ = enrolled
    sign_in(browser, user.username)
    for path in ("", "second-factor/", "password_change/", "search/?s=a", "system/", "auth/user/", "accounts/account/"):
        for call in (browser.get, browser.post):
            answer = call(f"/admin/{path}", {"code": "000000", "act": "off"})
            assert answer.status_code == 302, path
            assert "/admin/login/" in answer["Location"], path
    assert second_factor.device_of(user) is not None


def test_a_password_change_ends_other_sessions_and_a_deactivation_all(
    browser: Client,  # noqa: F811
    operator: Callable[..., Any],
):
    user, elsewhere = operator(), Client(SERVER_NAME="localhost")
    sign_in(browser, user.username)
    sign_in(elsewhere, user.username)
    new = {
        "old_password": "correct horse battery",
        "new_password1": "quite another 9",
        "new_password2": "quite another 9",
    }
    assert browser.post("/admin/password_change/", new).status_code == 302
    assert is_in(browser)
    assert not is_in(elsewhere)
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert not is_in(browser)
