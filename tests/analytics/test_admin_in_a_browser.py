"""The pages of agents, statistics and errors as a browser shows them: nothing overflows, however wide the screen."""

import shutil

import pytest
from django.conf import settings
from playwright.sync_api import sync_playwright

from agents_app.models import Agent
from analytics.models import WorkflowError, WorkflowStats
from tests.analytics.steps import count, happened, noon, resumed, saved

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]


@pytest.fixture
def paths(account):
    """Of every page, over rows with long names. They are made before the browser runs."""
    agent = Agent.objects.create(
        account=account,
        agent_id="a" * 255,
        name="N" * 255,
        description="d" * 2000,
        capabilities='["c", "' + "e" * 255 + '"]',
    )
    happened(account, noon("2026-11-28"), saved(account, "w" * 255, 1, agent_id="a" * 255), resumed(account, "w" * 255))
    happened(account, noon("2026-11-29"), saved(account, "w" * 255, 2, status="failed", agent_id="ada",
                                                error_type="t" * 100, error_message="m" * 2000))  # fmt: skip
    count()
    agents, stats, errors = "/admin/agents/agent/", "/admin/analytics/workflowstats/", "/admin/analytics/workflowerror/"
    told = {stats: WorkflowStats.objects.get(account=account), errors: WorkflowError.objects.get(account=account)}
    return [agents, stats, errors, *(f"{path}{row.pk}/change/" for path, row in {agents: agent, **told}.items())]


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
