"""The operators' pages of webhooks as a browser shows them: nothing overflows, on a small screen or a large one."""

import shutil

import pytest
from django.conf import settings
from playwright.sync_api import sync_playwright

from tests.webhooks.receiver import Answering
from tests.webhooks.steps import deliver, deliveries, endpoint, happened, queue, saved

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


@pytest.mark.parametrize("width", [390, 1440])
def test_pages_fit_the_screen(paths, base_url, admin_client, width):
    session = admin_client.cookies[settings.SESSION_COOKIE_NAME].value
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        context = browser.new_context(base_url=base_url, viewport={"width": width, "height": 900})
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": base_url}])
        page = context.new_page()
        for path in paths:
            page.goto(path, wait_until="networkidle")
            assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0, path
