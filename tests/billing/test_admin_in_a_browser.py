"""Billing's pages as a browser shows them: nothing overflows, on a small screen and on a large one."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Page, sync_playwright

from billing.meter_reports import note_billable
from billing.models import MeterReport, UsageRecord
from billing.storage import sample_storage
from tests.accounts.test_admin_in_a_browser import CHROMIUM, FLAGS, overflow
from tests.billing.steps import THIS_MONTH

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]


@pytest.fixture
def paths(account: Any, customer: str, hold: Any) -> list[str]:
    """The pages, with something on each; rows are made before, for Playwright's loop refuses the ORM."""
    record = UsageRecord.objects.create(account=account, month=THIS_MONTH, checkpoint_writes=1_234_567)
    hold(account, 3)
    sample_storage(now=timezone.now())
    note_billable()
    report = MeterReport.objects.get(account=account)
    MeterReport.objects.filter(pk=report.pk).update(state="doubtful", error="Read timed out, " * 30)
    pages = ["usagerecord/", f"usagerecord/{record.pk}/change/", "storagesample/", "quotawarning/", "invoice/"]
    return [*pages, "meterreport/", f"meterreport/{report.pk}/change/", f"meterreport/{report.pk}/mark_counted/"]


@pytest.fixture
def session(admin_client: Any) -> str:
    cookie: str = admin_client.cookies[settings.SESSION_COOKIE_NAME].value
    return cookie


@pytest.fixture(params=[390, 1440])
def page(request: Any, base_url: str, session: str, paths: list[str]) -> Iterator[Page]:
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS) as browser:
        context = browser.new_context(base_url=base_url, viewport={"width": request.param, "height": 900})
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": base_url}])
        yield context.new_page()


def test_pages_fit_the_screen(page: Page, paths: list[str]):
    for path in paths:
        answer = page.goto(f"/admin/billing/{path}", wait_until="networkidle")
        assert (answer and answer.status, overflow(page) <= 0) == (200, True), path
