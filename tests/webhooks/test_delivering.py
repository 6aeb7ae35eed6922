"""From an event to the receiver: retried on schedule, given up in the end, one slow receiver delaying nobody."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest
from django.utils import timezone

from snapstate_project.figures import of_webhooks
from tests.webhooks.receiver import Answering
from tests.webhooks.steps import deliver, deliveries, delivery, endpoint, happened, queue, saved, seconds_from_now
from webhooks import delivering, sender
from webhooks.models import ATTEMPTS_KEPT, Endpoint
from webhooks.retries import SCHEDULE
from webhooks.services import BY_OWNER

FIVE_DAYS = timedelta(days=5)


def tries_of(hook):
    return [attempt["status_code"] for attempt in delivery(hook).attempts]


def test_a_save_reaches_its_receiver(api, intake, hook, receiver):
    to = receiver(204)
    registered = hook(to.url)
    saved_as = api.post("/checkpoints", json={"workflow_id": "a/é", "step": 7, "state": {"n": 1.0}}).json()
    intake()
    assert deliver() == 1
    got = to.got[0].json
    assert list(got) == ["type", "event_id", "timestamp", "webhook_id", "event", "data"]
    assert (got["type"], got["event"], got["webhook_id"]) == (*["checkpoint.saved"] * 2, registered["webhook_id"])
    for name in ("workflow_id", "checkpoint_id", "step", "etag", "size_bytes"):
        assert got["data"][name] == saved_as[name]
    assert "state" not in got["data"]


def test_a_receiver_that_fails_twice_is_tried_three_times_under_one_id(account, hook, receiver):
    to = receiver(500, 503, 200)
    registered = hook(to.url)
    happened(account, saved())
    queue()
    for later in (timedelta(), timedelta(seconds=6), timedelta(minutes=7), timedelta(hours=1)):
        deliver(later)
    assert len({got.headers["webhook-id"] for got in to.got}) == 1
    assert len({got.body for got in to.got}) == 1
    assert tries_of(registered) == [500, 503, 200]
    assert (delivery(registered).status, delivery(registered).next_attempt_at) == ("delivered", None)


def test_after_ten_attempts_it_is_given_up(account, hook, receiver):
    to = receiver(500)
    registered = hook(to.url)
    happened(account, saved())
    queue()
    at = []
    while following := delivery(registered).next_attempt_at:
        at.append(following)
        deliver(following - timezone.now())
    waits = [later - earlier for earlier, later in pairwise(at)]
    assert (len(at), delivery(registered).status) == (10, "failed")
    assert all(0.89 * plan < wait < 1.11 * plan for plan, wait in zip(SCHEDULE, waits, strict=True))


@pytest.mark.parametrize(
    ("asked", "least", "most"),
    [
        ("600", 599, 600),
        ("2", 4, 6),
        ("604800", 86_399, 86_400),
        (timedelta(hours=1), 3_590, 3_600),
        (timedelta(days=7), 86_399, 86_400),
    ],
)
def test_retry_after_is_honoured_within_bounds(account, hook, receiver, asked, least, most):
    if isinstance(asked, timedelta):
        asked = format_datetime(datetime.now(UTC) + asked, usegmt=True)
    registered = hook(receiver(Answering(429, {"Retry-After": asked})).url)
    happened(account, saved())
    queue()
    deliver()
    assert least <= seconds_from_now(delivery(registered).next_attempt_at) <= most


@pytest.mark.parametrize(
    "asked",
    [
        *("", "-5", "soon", "1e3", "9" * 30, "9" * 5_000, "5, 600", "\u00b2", "\u00e9", "0x10"),
        "Wed, 21 Oct 99999999999 07:28:00 GMT",
        "Wed, 21 Oct 2099 99999999999999999999:28:00 GMT",
        "Wed, 21 Oct 2099 07:28:00 +9999",
        "Wed, 21 Oct 2099 07:28:00 +99999999999999",
        "Fri, 31 Dec 9999 23:59:59 -2300",
        "Mon, 01 Jan 0001 00:00:00 +2300",
        "Wed, 21 Oct 1015 07:28:00 GMT",
    ],
)
def test_a_retry_after_that_nobody_can_mean_changes_nothing(account, hook, receiver, asked):
    registered = hook(receiver(Answering(503, {"Retry-After": asked})).url)
    happened(account, saved())
    queue()
    deliver()
    assert tries_of(registered) == [503]
    assert 4 <= seconds_from_now(delivery(registered).next_attempt_at) <= 6


def test_of_many_attempts_the_newest_are_kept(account, hook, receiver):
    registered = hook(receiver(418).url)
    happened(account, saved())
    queue()
    row = delivery(registered)
    row.attempts = [{"at": str(number)} for number in range(ATTEMPTS_KEPT)]
    row.save()
    deliver()
    assert [attempt.get("status_code") for attempt in delivery(registered).attempts][-2:] == [None, 418]
    assert (len(delivery(registered).attempts), delivery(registered).attempts[0]["at"]) == (ATTEMPTS_KEPT, "1")


def test_410_disables_the_webhook(api, account, hook, receiver):
    registered = hook(receiver(410).url)
    happened(account, saved())
    queue()
    deliver()
    shown = api.get(f"/webhooks/{registered['webhook_id']}").json()
    assert (shown["status"], shown["disabled_reason"]) == ("disabled", "its receiver answered 410")
    happened(account, saved(step=2))
    queue()
    deliver(timedelta(seconds=10))
    assert [(each.status, len(each.attempts)) for each in deliveries(registered)] == [("failed", 1)]


def test_five_days_of_failing_disable_the_webhook_and_are_told(account, hook, receiver, capsys):
    to = receiver(500)
    registered = hook(to.url)
    happened(account, saved())
    queue()
    deliver()
    deliver(FIVE_DAYS + timedelta(minutes=1))
    assert endpoint(registered).status == "disabled"
    assert "failed for five days" in endpoint(registered).disabled_reason


def test_a_hiccup_after_a_failing_week_does_not_disable(account, hook, receiver):
    registered = hook(receiver(500, 200).url)
    endpoint_row = endpoint(registered)
    endpoint_row.failing_since = timezone.now() - FIVE_DAYS
    endpoint_row.save()
    happened(account, saved())
    queue()
    deliver()
    assert endpoint(registered).status == "active"
    deliver(timedelta(seconds=6))
    assert (endpoint(registered).status, endpoint(registered).failing_since) == ("active", None)


def test_what_falls_due_for_a_disabled_webhook_is_given_up(api, account, hook, receiver):
    to = receiver(200)
    registered = hook(to.url)
    happened(account, saved())
    queue()
    api.patch(f"/webhooks/{registered['webhook_id']}", json={"status": "disabled"})
    assert (deliver(), to.got) == (0, [])
    assert (delivery(registered).status, endpoint(registered).disabled_reason) == ("failed", BY_OWNER)


def test_what_happens_while_a_webhook_is_disabled_is_not_sent_when_it_is_enabled(api, account, hook, receiver):
    to = receiver(200)
    registered = hook(to.url)
    api.patch(f"/webhooks/{registered['webhook_id']}", json={"status": "disabled"})
    happened(account, saved())
    queue()
    api.patch(f"/webhooks/{registered['webhook_id']}", json={"status": "active"})
    queue()
    assert (deliver(), to.got, deliveries(registered)) == (0, [], [])


def test_what_is_due_is_told_but_for_those_that_take_long(account, hook):
    registered = hook("https://hooks.example.com")
    happened(account, saved())
    queue()
    assert next(metric.samples[0].value for metric in of_webhooks()) == 1
    Endpoint.objects.filter(webhook_id=registered["webhook_id"]).update(slow=True)
    assert [metric.samples[0].value for metric in of_webhooks()] == [0, 0]


def test_one_that_never_answers_delays_nobody(account, hook, receiver, monkeypatch):
    """Fifty wait for the silent one; the other's are all there long before its first attempt ends."""
    monkeypatch.setattr(sender, "TIMEOUT_SECONDS", 6.0)
    silent, quick = receiver(Answering(200, after=60)), receiver(200)
    slow_one, quick_one = hook(silent.url), hook(quick.url)
    happened(account, *[saved(step=step) for step in range(50)])
    queue()
    began = time.time()
    delivering.deliver_due(seconds=3)
    assert len(quick.got) == 50
    assert max(got.at for got in quick.got) - began < 3
    assert {each.status for each in deliveries(quick_one)} == {"delivered"}
    assert endpoint(slow_one).slow
    errors = [attempt["error"] for each in deliveries(slow_one) for attempt in each.attempts]
    assert set(errors) == {"no answer within 6 seconds"}
