"""The operators' pages of webhooks as a browser shows them: nothing overflows, on a small screen or a large one."""

import shutil
from contextlib import contextmanager

import pytest
from django.conf import settings
from playwright.sync_api import sync_playwright

from accounts.models import Account
from tests.webhooks.receiver import Answering
from tests.webhooks.steps import deliver, deliveries, endpoint, happened, queue, saved
from webhooks.models import Delivery

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]


@pytest.fixture
def paths(account, hook, receiver):
    """Of every page, over a webhook with long names, a success and failures. Rows are made before the browser runs."""
    to = receiver(200, Answering(500, body=b"no " * 300))
    registered = hook(to.url + "/" + "long" * 100, "checkpoint.saved", "workflow.failed", description="d" * 500)
    for step in (1, 2):
        happened(account, saved("w" * 255, step))
        queue()
        deliver()
    one, row = endpoint(registered).pk, deliveries(registered)[1].pk
    endpoints, rows = "/admin/webhooks/endpoint/", "/admin/webhooks/delivery/"
    return [endpoints, rows, f"{endpoints}{one}/change/", f"{endpoints}{one}/disable/", f"{rows}{row}/change/"]


@contextmanager
def screen(base_url, client, width):
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        context = browser.new_context(base_url=base_url, viewport={"width": width, "height": 900})
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": base_url}])
        yield context.new_page()


@pytest.mark.parametrize("width", [390, 1440])
def test_pages_fit_the_screen(paths, base_url, admin_client, width):
    with screen(base_url, admin_client, width) as page:
        for path in paths:
            page.goto(path, wait_until="networkidle")
            assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, path


def test_every_column_is_seen_on_a_usual_screen(paths, base_url, admin_client, account):
    """With a long email, and an error that says much."""
    Account.objects.filter(pk=account.pk).update(email=f"{account.pk}-{account.email}")
    error = {"at": "2026-11-30 11:00", "status_code": None, "error": "gaierror: [Errno -2] Name or service not known"}
    rows = Delivery.objects.filter(endpoint__account=account)
    rows.update(attempts=[{**error, "duration_ms": 1, "response": ""}] * 12, event_type="workflow.completed")
    with screen(base_url, admin_client, 1440) as page:
        for path in paths[:2]:
            page.goto(f"{path}?q={account.pk}", wait_until="networkidle")
            last = page.locator("#result_list tbody tr td").last.bounding_box()
            assert last["x"] + last["width"] <= 1440 - 16, path
