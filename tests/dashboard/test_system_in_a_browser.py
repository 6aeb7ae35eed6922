"""Webhooks, billing and what runs behind the pages in a real Chromium: sent again, skipped, fit for every screen."""

import uuid
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import expect

from snapstate_project.events.models import Event, SubscriberCursor
from tests.dashboard.browsing import CHROMIUM, Seen, chromium, grave_faults, overflow
from webhooks.models import Delivery, Endpoint

ATTEMPT = {
    "at": "2026-11-29T10:00:00.000Z",
    "status_code": 500,
    "duration_ms": 12,
    "error": None,
    "response": "no " * 300,
}
LISTS = ("webhooks/endpoint", "webhooks/delivery", "billing/usagerecord", "billing/meterreport", "billing/usageday",
         "events/event", "events/subscribercursor", "agents/agent", "analytics/workflowstats",
         "analytics/workflowerror",
         "checkpoints/archivesegment", "checkpoints/archiveproblem")  # fmt: skip

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]


@pytest.fixture
def failed(account):
    """A delivery that was tried in vain."""
    now = timezone.now()
    endpoint = Endpoint.objects.create(
        account=account, url="https://hooks.example/" + "long" * 60, events=["checkpoint.saved"], created_at=now
    )
    return Delivery.objects.create(
        endpoint=endpoint, event_uid=uuid.uuid4().bytes, event_type="checkpoint.saved", body='{"type":""}',
        status="failed", tries=10, attempts=[ATTEMPT] * 3, created_at=now,
    )  # fmt: skip


@pytest.fixture
def failing(worked):
    """A subscriber that stands before an event it fails at, and is put right afterwards."""
    newest = Event.objects.latest("id").pk
    cursors = SubscriberCursor.objects.filter(name="agents")
    cursors.update(position=newest - 1, failing_event_id=newest, failing_error="ValueError: odd", failures=2,
                   failing_since=timezone.now())  # fmt: skip
    yield newest
    cursors.update(position=newest, failing_event_id=None, failing_error="", failures=0, failing_since=None)


@pytest.fixture
def browse(base_url, admin_client):
    def run(visit, *, width=1440):
        seen = Seen(urlsplit(base_url).netloc)
        session = admin_client.cookies[settings.SESSION_COOKIE_NAME].value
        with chromium(base_url, width=width) as context:
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": base_url}])
            page = context.new_page()
            seen.watch(page)
            visit(page)
        assert (seen.errors, seen.strangers) == ([], [])

    return run


@pytest.mark.parametrize("width", [390, 1440])
def test_pages_fit_and_are_for_everybody(browse, worked, failed, failing, width):
    one = f"/admin/webhooks/endpoint/{failed.endpoint_id}/"
    paths = [f"/admin/{each}/" for each in LISTS]
    paths += ["/admin/system/", f"{one}change/", f"{one}disable/", f"{one}resend_since/"]
    paths += [f"/admin/webhooks/delivery/{failed.pk}/change/", "/admin/events/subscribercursor/agents/change/"]

    def visit(page):
        for path in paths:
            page.goto(path, wait_until="networkidle")
            assert (overflow(page) <= 0, grave_faults(page)) == (True, []), path

    browse(visit, width=width)


def test_a_delivery_is_sent_again(browse, failed):
    def visit(page):
        page.goto("/admin/webhooks/delivery/?status=failed")
        page.click(f"text={failed.delivery_id[:16]}")
        expect(page.get_by_role("heading", name="Attempts")).to_be_visible()
        page.click("a:has-text('Send again')")
        page.click("button:has-text('Send again')")
        expect(page.get_by_text("To be sent again")).to_be_visible()

    browse(visit)
    failed.refresh_from_db()
    assert (failed.status, failed.next_attempt_at is not None) == ("pending", True)
    Delivery.objects.filter(pk=failed.pk).update(next_attempt_at=None)


def test_an_event_is_skipped(browse, failing):
    def visit(page):
        page.goto("/admin/system/")
        expect(page.get_by_text(f"at event {failing}: ValueError: odd")).to_be_visible()
        page.click("a:has-text('agents') >> nth=-1")
        page.click("text=Skip the failing event")
        page.click("button:has-text('Skip it')")
        expect(page.get_by_text(f"goes on after event {failing}")).to_be_visible()

    browse(visit)
    cursor = SubscriberCursor.objects.get(name="agents")
    assert (cursor.position, cursor.failing_event_id) == (failing, None)
