"""The operators' pages in a real browser: they work, they read well, and they ask nobody else for anything."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.test import Client
from django_otp.oath import totp
from playwright.sync_api import Page

from accounts import second_factor
from accounts.models import Account
from tests.dashboard.browsing import CHROMIUM, IS_DRAWN, Seen, chromium, grave_faults, overflow

PASSWORD = "correct horse battery"
SIZES = [(390, False), (1440, False), (390, True), (1440, True)]

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]


@contextmanager
def browsing(
    base_url: str,
    client: Client | None = None,
    *,
    width: int = 1440,
    dark: bool = False,
    expected: tuple[str, ...] = (),
) -> Iterator[Page]:
    """Whatever stands in the console, but for what is expected, or is asked of another host, fails the test.

    Playwright runs an event loop in this thread, where Django then refuses its ORM: rows are made before.
    """
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value if client else ""
    with chromium(base_url, width=width, dark=dark) as context:
        if cookie:
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": base_url}])
        page, seen = context.new_page(), Seen(urlsplit(base_url).netloc)
        seen.watch(page, expected=expected)
        yield page
        assert seen.errors == []
        assert seen.strangers == []


def sign_in(page: Page, name: str, password: str = PASSWORD) -> None:
    page.goto("/admin/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", password)
    page.click("button:has-text('Log in')")


def test_signing_in_leads_to_the_overview_with_its_charts_drawn(base_url: str, operator: Any, worked: None):
    name = operator(PASSWORD).username
    with browsing(base_url) as page:
        sign_in(page, name)
        page.get_by_role("heading", name="Health").wait_for()
        page.wait_for_load_state("networkidle")
        charts = page.locator("canvas.chart")
        assert charts.count() == 4
        drawn = [charts.nth(at).evaluate(IS_DRAWN) for at in range(4)]
        assert min(drawn) > 500, drawn


def test_too_many_wrong_passwords_lock_out(base_url: str, operator: Any):
    name = operator(PASSWORD).username
    with browsing(base_url, expected=("429",)) as page:
        for _ in range(5):
            sign_in(page, name, "wrong")
        page.get_by_text("Sign in again in 15 minutes").wait_for()
        assert grave_faults(page) == []
        sign_in(page, name)
        page.get_by_text("Sign in again in 15 minutes").wait_for()


def code_of(key: bytes, ahead: int = 0) -> str:
    return f"{totp(key, drift=ahead):06d}"


def test_a_second_factor_is_enrolled_and_asked_for(base_url: str, operator: Any):
    user = operator(PASSWORD)
    key = second_factor.offered_to(user).bin_key
    with browsing(base_url) as page:
        sign_in(page, user.username)
        page.goto("/admin/second-factor/")
        assert page.locator("img.qr").evaluate("image => image.naturalWidth") > 0
        page.fill("#code", code_of(key, -1))
        page.click("button:has-text('Turn on')")
        page.click("button:has-text('Copy all')")
        page.get_by_text("Copied").wait_for()
        codes = re.findall(r"[a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}", page.evaluate("navigator.clipboard.readText()"))
        assert len(codes) == 10
        page.context.clear_cookies()
        sign_in(page, user.username)
        assert page.get_by_label("Code").is_visible()
        assert grave_faults(page) == []
        page.fill("#code", code_of(key))
        page.click("button:has-text('Go on')")
        page.get_by_role("heading", name="Health").wait_for()


def test_a_key_is_issued_copied_and_revoked(base_url: str, admin_client: Client, account: Account):
    with browsing(base_url, admin_client) as page:
        page.goto(f"/admin/accounts/account/{account.pk}/change/")
        page.get_by_role("link", name="Issue key").click()
        page.fill("[name=label]", "by hand")
        page.click("button:has-text('Issue key')")
        secret = page.input_value("#secret")
        assert re.fullmatch(r"snp_[0-9a-f]{32}", secret)
        page.click("#copy")
        page.get_by_text("Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == secret
        page.get_by_role("link", name="Back to the account").click()
        page.get_by_role("link", name="Revoke").click()
        page.locator("form button:has-text('Revoke')").click()
        page.get_by_text("Revoked: ").wait_for()
        answer = page.request.get("/usage", headers={"Authorization": f"Bearer {secret}"})
        assert answer.status == 401


def test_an_account_is_suspended_with_a_reason(base_url: str, admin_client: Client, account: Account):
    with browsing(base_url, admin_client, width=390) as page:
        page.goto(f"/admin/accounts/account/{account.pk}/suspend/")
        page.fill("[name=reason]", "does not answer")
        page.locator("form button:has-text('Suspend')").click()
        page.get_by_text("does not answer").wait_for()


def test_a_viewer_is_offered_nothing_and_refused(base_url: str, member: Callable[[str], Client], account: Account):
    with browsing(base_url, member("viewers"), expected=("403",)) as page:
        page.goto(f"/admin/accounts/account/{account.pk}/change/")
        assert page.get_by_role("link", name="Issue key").count() == 0
        page.goto(f"/admin/accounts/account/{account.pk}/issue_key/")
        page.get_by_text("403").first.wait_for()
        page.goto("/admin/")
        assert page.get_by_text("Estimated revenue").count() == 0


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_pages_fit_and_read_well(
    base_url: str, admin_client: Client, account: Account, worked: None, width: int, dark: bool
):
    row = f"/admin/accounts/account/{account.pk}"
    paths = ["/admin/login/", "/admin/", "/admin/accounts/account/", f"{row}/change/", f"{row}/schedule_deletion/"]
    paths += ["/admin/second-factor/", "/admin/auditlog/logentry/"]
    with browsing(base_url, admin_client, width=width, dark=dark) as page:
        for path in paths:
            page.goto(path, wait_until="networkidle")
            assert overflow(page) <= 0, path
            assert grave_faults(page) == [], path


def test_the_overview_is_used_by_keyboard_alone(base_url: str, admin_client: Client, worked: None):
    with browsing(base_url, admin_client) as page:
        page.goto("/admin/", wait_until="networkidle")
        table = page.locator("details.chart-table").first
        table.locator("summary").focus()
        page.keyboard.press("Enter")
        assert table.locator("td").first.is_visible()
        page.keyboard.press("Control+k")
        page.locator("input[name=s]").wait_for()
        page.keyboard.press("Escape")
