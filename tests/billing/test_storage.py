"""Storage is looked at once a day, and billed by the mean of a month's samples."""

from datetime import UTC, date, datetime, timedelta

import pytest

from billing.models import StorageSample, UsageRecord
from billing.storage import sample_storage
from billing.tasks import sample_storage as task
from billing.usage import usage_of
from checkpoints.services import storage_held_by_account, storage_held_bytes
from snapstate_project.celery import app
from tests.billing.steps import samples
from tests.events.steps import at_once

NOON = datetime(2026, 11, 10, 12, tzinfo=UTC)
GB = 2**30


def days_of(first, *gigabytes, account, hold):
    """A look each day."""
    for number, held in enumerate(gigabytes):
        hold(account, held)
        sample_storage(now=first + timedelta(days=number))


def test_the_first_look_of_a_day_stays(account, hold):
    hold(account, 2)
    assert sample_storage(now=NOON) >= 1
    hold(account, 5)
    assert sample_storage(now=NOON + timedelta(hours=11)) == 0
    assert samples(account) == {date(2026, 11, 10): 2 * GB}


def test_looking_at_once_from_everywhere_is_one_look(account, hold):
    hold(account, 2)
    at_once(*[lambda: sample_storage(now=NOON)] * 6)
    at_once(*[lambda: StorageSample.objects.add(date(2026, 11, 11), {account.id: GB})] * 6)
    assert samples(account) == {date(2026, 11, 10): 2 * GB, date(2026, 11, 11): GB}


def test_the_figure_of_a_month_is_the_mean_of_its_samples(account, hold):
    days_of(NOON, 1, 2, 6, account=account, hold=hold)
    hold(account, 0.5)
    answer = usage_of(account.id, now=NOON + timedelta(days=3))
    assert answer["usage"]["storage_gb"] == {"current": 0.5, "free_remaining": 0.0, "billable": 2.0}
    assert answer["estimated_charge"] == "$0.20"


def test_a_day_nobody_looked_at_is_not_made_up(account, hold):
    days_of(NOON, 4, account=account, hold=hold)
    days_of(NOON + timedelta(days=9), 2, account=account, hold=hold)
    assert len(samples(account)) == 2
    assert usage_of(account.id, now=NOON + timedelta(days=10))["usage"]["storage_gb"]["billable"] == 2.0


def test_a_day_with_nothing_held_is_a_sample_of_nothing(account, hold):
    days_of(NOON, 0, 0, 0, 8, account=account, hold=hold)
    figures = usage_of(account.id, now=NOON + timedelta(days=4))["usage"]["storage_gb"]
    assert figures == {"current": 8.0, "free_remaining": 0.0, "billable": 1.0}


@pytest.mark.parametrize(
    ("first", "days", "billable"),
    [(datetime(2028, 2, 1, tzinfo=UTC), 29, 1.0), (datetime(2026, 2, 1, tzinfo=UTC), 28, 1.0)],
)
def test_the_last_sample_of_a_month_belongs_to_it_and_the_next_to_the_next(account, hold, first, days, billable):
    days_of(first, *[2] * days, 30, account=account, hold=hold)
    end = first + timedelta(days=days)
    assert usage_of(account.id, now=end - timedelta(microseconds=1))["usage"]["storage_gb"]["billable"] == billable
    assert usage_of(account.id, now=end)["usage"]["storage_gb"]["billable"] == 29.0


@pytest.mark.usefixtures("server_zone")
@pytest.mark.parametrize(
    ("at", "day"),
    [
        ("2028-02-29T23:59:59.999Z", date(2028, 2, 29)),
        ("2028-03-01T00:00:00Z", date(2028, 3, 1)),
        ("2026-12-01T12:30:00+13:00", date(2026, 11, 30)),
    ],
)
def test_the_day_of_a_sample_is_that_of_utc(account, hold, at, day):
    hold(account, 3)
    now = datetime.fromisoformat(at)
    sample_storage(now=now)
    assert list(samples(account)) == [day]
    assert usage_of(account.id, now=now)["usage"]["storage_gb"]["billable"] == 2.0


def test_who_only_holds_something_has_a_month_of_usage_too(account, make_account, hold):
    idle = make_account()
    days_of(NOON, 3, account=account, hold=hold)
    assert UsageRecord.objects.filter(account=account, month=date(2026, 11, 1)).exists()
    assert not UsageRecord.objects.filter(account=idle).exists()


def test_what_is_held_is_asked_of_the_room_that_holds_it(api, account, intake):
    api.post("/checkpoints", json={"workflow_id": "held", "step": 1, "state": {"text": "tides " * 100}})
    intake()
    held = storage_held_by_account()[account.id]
    assert held == storage_held_bytes(account.id) > 0
    task()
    assert list(samples(account).values()) == [held]


def test_beat_looks_every_hour():
    due = app.conf.beat_schedule["sample-storage"]
    assert (due["task"], due["schedule"]) == (task.name, 3600.0)
