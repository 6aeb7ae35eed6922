"""Who gets in: a password, after five wrong ones a wait, a second factor for who has one, and for how long."""

import re
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axes.utils import reset
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_static.models import StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from accounts import second_factor
from snapstate_project import operator_site
from snapstate_project.second_factor_pages import too_many

PASSWORD = "correct horse battery"
LOGIN = "/admin/login/"


@pytest.fixture
def browser() -> Iterator[Client]:
    yield Client(SERVER_NAME="localhost")
    reset()


def sign_in(client: Client, name: str, password: str = PASSWORD, **headers: Any) -> Any:
    return client.post(f"{LOGIN}?next=/admin/accounts/account/", {"username": name, "password": password}, **headers)


def is_in(client: Client) -> bool:
    return client.get("/admin/").status_code == 200


def code_of(user: Any, *, ahead: int = 0) -> str:
    """As the app would show it; one ahead of the clock where the present one is used up."""
    device = TOTPDevice.objects.get(user=user)
    return f"{totp(device.bin_key, device.step, device.t0, device.digits, ahead):06d}"


@pytest.fixture
def enrolled(operator: Callable[..., Any]) -> tuple[Any, list[str]]:
    """An operator with a second factor, and the recovery codes."""
    user = operator()
    second_factor.offered_to(user)
    codes = second_factor.enrol(user, code_of(user, ahead=-1))
    assert codes is not None
    return user, codes


def test_a_right_password_opens_the_page_that_was_asked_for(browser: Client, operator: Callable[..., Any]):
    answer = sign_in(browser, operator().username)
    assert (answer.status_code, answer["Location"]) == (302, "/admin/accounts/account/")
    assert is_in(browser)


def test_after_five_wrong_passwords_even_the_right_one_waits(browser: Client, operator: Callable[..., Any]):
    name = operator().username
    answers = [sign_in(browser, name, "wrong") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 429]
    locked = sign_in(browser, name)
    assert (locked.status_code, locked["Retry-After"]) == (429, "900")
    assert "Locked out" in locked.content.decode()
    assert not is_in(browser)


def test_a_lock_holds_for_one_name_from_one_address(browser: Client, operator: Callable[..., Any]):
    """Nobody can lock an operator out from elsewhere, whatever a header says of the address."""
    name, other = operator().username, operator().username
    for _ in range(6):
        sign_in(browser, name, "wrong", REMOTE_ADDR="192.0.2.1")
    spoofed = sign_in(browser, name, REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR="198.51.100.7")
    assert spoofed.status_code == 429
    assert sign_in(browser, other, REMOTE_ADDR="192.0.2.1").status_code == 302
    assert sign_in(Client(SERVER_NAME="localhost"), name, REMOTE_ADDR="192.0.2.2").status_code == 302


def test_an_administrator_unlocks(browser: Client, operator: Callable[..., Any], admin_client: Client):
    user = operator()
    for _ in range(6):
        sign_in(browser, user.username, "wrong")
    assert admin_client.post(f"/admin/auth/user/{user.pk}/unlock/", {"confirmed": "yes"}).status_code == 302
    assert sign_in(browser, user.username).status_code == 302


def test_a_second_factor_is_turned_on_by_a_code_of_it(browser: Client, operator: Callable[..., Any]):
    user = operator()
    browser.force_login(user)
    page = browser.get("/admin/second-factor/").content.decode()
    assert "data:image/svg+xml;base64," in page
    key = TOTPDevice.objects.get(user=user)
    assert second_factor.key_text(key) in page
    assert "not right" in browser.post("/admin/second-factor/", {"code": "000000"}).content.decode()
    TOTPDevice.objects.filter(user=user).update(throttling_failure_count=0)
    shown = browser.post("/admin/second-factor/", {"code": code_of(user)}).content.decode()
    codes = re.findall(r"<li>([a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4})", shown)
    assert len(set(codes)) == 10
    assert not StaticToken.objects.filter(device__user=user, token__in=codes).exists()
    assert is_in(browser)


def test_with_a_second_factor_the_password_alone_opens_nothing(browser: Client, enrolled: Any):
    user, _ = enrolled
    sign_in(browser, user.username)
    for path in ("/admin/", "/admin/accounts/account/", "/admin/second-factor/", "/admin/search/?s=a"):
        assert browser.get(path)["Location"].startswith(LOGIN)
    asked = browser.get(LOGIN).content.decode()
    assert 'autocomplete="one-time-code"' in asked
    answer = browser.post(f"{LOGIN}?next=/admin/accounts/account/", {"code": code_of(user)})
    assert answer["Location"] == "/admin/accounts/account/"
    assert is_in(browser)


def test_a_code_works_once_and_wrong_ones_have_to_wait(browser: Client, enrolled: Any):
    user, _ = enrolled
    sign_in(browser, user.username)
    code = code_of(user)
    assert browser.post(LOGIN, {"code": code}).status_code == 302
    other = Client(SERVER_NAME="localhost")
    sign_in(other, user.username)
    assert "used before" in other.post(LOGIN, {"code": code}).content.decode()
    assert re.search(r"wait [12] second", other.post(LOGIN, {"code": code}).content.decode())
    assert not is_in(other)


@pytest.mark.parametrize(("wait", "said"), [(1, "wait 1 second."), (2, "wait 2 seconds.")])
def test_how_long_to_wait_is_said_as_people_say_it(wait: int, said: str):
    assert too_many(wait).endswith(said)


def test_who_leaves_is_set_inactive_and_out_at_once(browser: Client, operator: Any, admin_client: Client):
    user, page = operator(), "/admin/auth/user"
    sign_in(browser, user.username)
    assert "set inactive, not deleted" in admin_client.get(f"{page}/{user.pk}/change/").content.decode()
    form = {"username": user.username, "is_staff": "on", "is_superuser": "on"}
    assert admin_client.post(f"{page}/{user.pk}/change/", form).status_code == 302
    assert not is_in(browser)
    assert sign_in(browser, user.username).status_code == 200
    user.refresh_from_db()
    assert not user.is_active


def test_nobody_deletes_an_operator(operator: Callable[..., Any], admin_client: Client):
    """What histories say that operator did would go too."""
    user, page = operator(), "/admin/auth/user"
    assert "/delete/" not in admin_client.get(f"{page}/{user.pk}/change/").content.decode()
    assert admin_client.post(f"{page}/{user.pk}/delete/", {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": str(user.pk), "post": "yes"}
    admin_client.post(f"{page}/", chosen)
    assert type(user).objects.filter(pk=user.pk).exists()


def test_a_recovery_code_signs_in_once(browser: Client, enrolled: Any):
    user, codes = enrolled
    sign_in(browser, user.username)
    assert browser.post(LOGIN, {"code": codes[0].upper()}).status_code == 302
    assert second_factor.recovery_codes_left(user) == 9
    other = Client(SERVER_NAME="localhost")
    sign_in(other, user.username)
    assert other.post(LOGIN, {"code": codes[0]}).status_code == 200


def test_who_waits_for_a_code_is_never_sent_elsewhere_and_may_leave(browser: Client, enrolled: Any):
    user, codes = enrolled
    sign_in(browser, user.username)
    assert browser.post(f"{LOGIN}?next=https://evil.example/", {"code": codes[1]})["Location"] == "/admin/"
    other = Client(SERVER_NAME="localhost")
    sign_in(other, user.username)
    assert other.post(LOGIN, {"leave": "1"})["Location"] == LOGIN
    assert 'name="password"' in other.get(LOGIN).content.decode()


def test_turning_it_off_needs_a_code_and_an_administrator_can_reset_it(
    browser: Client, enrolled: Any, admin_client: Client
):
    user, codes = enrolled
    sign_in(browser, user.username)
    browser.post(LOGIN, {"code": codes[0]})
    assert "not right" in browser.post("/admin/second-factor/", {"act": "off", "code": "wrong"}).content.decode()
    assert second_factor.device_of(user) is not None
    reset_page = f"/admin/auth/user/{user.pk}/reset_second_factor/"
    assert admin_client.post(reset_page, {"confirmed": "yes"}).status_code == 302
    assert second_factor.device_of(user) is None
    assert sign_in(Client(SERVER_NAME="localhost"), user.username).status_code == 302


@pytest.mark.parametrize(("hours", "still"), [(11.9, True), (12.1, False)])
def test_a_session_ends_twelve_hours_after_it_began(browser: Client, operator: Any, hours: float, still: bool):
    browser.force_login(operator())
    session = browser.session
    session[operator_site.BEGAN] = int(time.time() - hours * 3600)
    session.save()
    assert is_in(browser) is still


def test_a_session_ends_an_hour_after_its_last_page(browser: Client, operator: Callable[..., Any]):
    browser.force_login(operator())
    session = browser.session
    session[operator_site.SEEN] = int(time.time() - 3000)
    session.save()
    row = Session.objects.filter(pk=session.session_key)
    assert is_in(browser)
    assert row.get().expire_date.timestamp() > time.time() + 3500
    row.update(expire_date="2020-01-01T00:00Z")
    assert not is_in(browser)


def test_a_session_from_before_there_was_a_gate_signs_in_again(browser: Client, operator: Callable[..., Any]):
    browser.force_login(operator())
    session = browser.session
    del session[operator_site.BEGAN], session[operator_site.CODE]
    session.save()
    assert not is_in(browser)
    assert 'name="password"' in browser.get(LOGIN).content.decode()


def test_the_operators_pages_run_no_script_that_stands_in_them(admin_client: Client, account: Any):
    policies = {}
    for path in (LOGIN, "/admin/", "/admin/accounts/account/", f"/admin/accounts/account/{account.pk}/change/"):
        answer = admin_client.get(path)
        policies[path] = answer["Content-Security-Policy"].split("script-src ")[1]
        assert not re.search(r"<script(?![^>]*\ssrc=)(?![^>]*type=.application/json)", answer.content.decode()), path
    assert set(policies.values()) == {"'self' 'unsafe-eval'"}


def test_old_sign_ins_are_swept(browser: Client, operator: Callable[..., Any]):
    name = f"nobody-{uuid.uuid4().hex}"
    sign_in(browser, name, "wrong")
    browser.force_login(operator())
    Session.objects.filter(pk=browser.session.session_key).update(expire_date="2020-01-01T00:00Z")
    assert operator_site.prune_sign_ins() == 0  # that guess still counts
    assert not is_in(browser)
    assert settings.AXES_COOLOFF_TIME.total_seconds() == 900
