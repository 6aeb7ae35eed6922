"""The pages as a browser shows them: nothing overflows, and the secret of a new key can be copied."""

import re
import shutil
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, sync_playwright

from accounts import services
from accounts.models import Account
from billing.models import StorageSample

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]


@pytest.fixture(params=[390, 1440])
def page(request: Any, base_url: str, admin_client: Client, account: Account, key: str) -> Iterator[Page]:
    """Signed in, on a small screen and on a large one; an error in the console fails the test.

    Playwright runs an event loop in this thread, where Django then refuses its ORM: rows are made before.
    """
    session = admin_client.cookies[settings.SESSION_COOKIE_NAME].value
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        context = browser.new_context(base_url=base_url, viewport={"width": request.param, "height": 900})
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": base_url}])
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        errors: list[str] = []
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
        assert errors == []


def overflow(page: Page) -> int:
    pixels: int = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    return pixels


def test_pages_fit_the_screen(page: Page, account: Account):
    row = f"/admin/accounts/account/{account.pk}"
    for path in ("/admin/accounts/account/", "/admin/accounts/apikey/", f"{row}/change/", f"{row}/suspend/"):
        page.goto(path, wait_until="networkidle")
        assert overflow(page) <= 0, path


@pytest.fixture
def long_named() -> Account:
    """As long as names may be."""
    email = f"{uuid.uuid4().hex}{'e' * 28}@{'d' * 60}.{'d' * 60}.example"
    account = services.create_account(email=email, name="a-company-without-spaces-" * 8)
    services.issue_key(account, label="what it is for " * 6)
    StorageSample.objects.create(account=account, day=timezone.now().date(), bytes=1)
    return account


def test_no_column_is_pushed_off_a_large_screen_by_a_long_name(long_named: Account, page: Page):
    page.set_viewport_size({"width": 1440, "height": 900})  # on a small one tables are moved sideways
    for path in ("accounts/account", "accounts/apikey", "billing/storagesample"):
        page.goto(f"/admin/{path}/?q={long_named.email}", wait_until="networkidle")
        assert page.locator("#result_list > tbody").count() == 1
        beyond = page.locator("#result_list").evaluate("table => table.scrollWidth - table.parentElement.clientWidth")
        assert beyond <= 0, path


def test_the_page_of_a_long_name_fits_the_screen(long_named: Account, page: Page):
    row = f"/admin/accounts/account/{long_named.pk}"
    for path in (f"{row}/change/", f"{row}/suspend/", f"/admin/auditlog/logentry/?q={long_named.pk}"):
        page.goto(path, wait_until="networkidle")
        assert overflow(page) <= 0, path
    page.click("#result_list a")
    page.wait_for_selector(".readonly")
    assert overflow(page) <= 0


def test_a_new_key_is_shown_and_copied(page: Page, account: Account):
    page.goto(f"/admin/accounts/account/{account.pk}/issue_key/")
    page.fill("[name=label]", "in a browser")
    page.click("button:has-text('Issue key')")
    secret = page.input_value("#secret")
    assert re.fullmatch(r"snp_[0-9a-f]{32}", secret)
    page.click("#copy")
    page.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == secret
    assert overflow(page) <= 0
