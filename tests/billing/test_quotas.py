"""An account is warned at 80 % and 100 % of what is free: once a month, meter and threshold."""

from datetime import UTC, date, datetime, timedelta

import pytest

from billing.models import UsageRecord
from billing.storage import sample_storage
from snapstate_project.events.models import Event
from tests.billing.steps import happened, meter, replayed, resumed, saved, warnings
from tests.events.steps import at_once, drain

MARCH, APRIL = "2026-03-31T23:59:59Z", "2026-04-01T00:00:00Z"


def used(account, month=date(2026, 3, 1), **units):
    UsageRecord.objects.create(account=account, month=month, **units)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        (7_998, []),
        (7_999, [("checkpoint_writes", 80)]),
        (9_998, [("checkpoint_writes", 80)]),
        (9_999, [("checkpoint_writes", 80), ("checkpoint_writes", 100)]),
    ],
)
def test_the_write_that_comes_to_a_threshold_is_told(account, before, told):
    used(account, checkpoint_writes=before)
    happened(account, [saved()], MARCH)
    meter()
    assert warnings(account) == told


def test_an_event_says_what_was_used_of_what_is_free(account):
    used(account, replay_calls=799)
    happened(account, [replayed(), replayed()], MARCH)
    meter()
    (event,) = Event.objects.filter(account_id=account.id, type="quota.exceeded")
    assert event.data == '{"meter":"replay_calls","threshold":80,"month":"2026-03","used":801,"free":1000}'


def test_a_threshold_is_told_once_a_month(account):
    used(account, resume_calls=3_999)
    for at in (MARCH, MARCH, APRIL):
        happened(account, [resumed()], at)
        meter()
    assert warnings(account) == [("resume_calls", 80)]
    used(account, date(2026, 5, 1), resume_calls=3_999)
    happened(account, [resumed()], "2026-05-01T00:00:00Z")
    meter()
    assert warnings(account) == [("resume_calls", 80)] * 2


def test_each_meter_has_its_own_thresholds(account):
    used(account, checkpoint_writes=7_999, resume_calls=4_999, replay_calls=999)
    happened(account, [saved(), resumed(), replayed()], MARCH)
    meter()
    pairs = {(name, 80) for name in ("checkpoint_writes", "resume_calls", "replay_calls")}
    assert set(warnings(account)) == pairs | {("resume_calls", 100), ("replay_calls", 100)}


def test_storage_is_warned_of_by_the_mean_of_its_samples(account, hold):
    for day, gigabytes in enumerate([0.5, 1.2, 2.0, 9]):
        hold(account, gigabytes)
        sample_storage(now=datetime(2026, 3, 1 + day, tzinfo=UTC))
        expected = [[], [("storage_gb", 80)], [("storage_gb", 80), ("storage_gb", 100)]][min(day, 2)]
        assert warnings(account) == expected


def test_racing_relays_and_looks_tell_once(make_account, hold):
    accounts = [make_account() for _ in range(5)]
    for account in accounts:
        used(account, checkpoint_writes=7_990, replay_calls=990)
        happened(account, [saved()] * 20 + [replayed()] * 20, MARCH)
        hold(account, 3)
    looks = [lambda: sample_storage(now=datetime(2026, 3, 31, tzinfo=UTC) + timedelta(hours=1))] * 2
    at_once(*[lambda: drain("billing", limit=3)] * 4, *looks)
    meter()
    expected = {("checkpoint_writes", 80), *((name, at) for name in ("replay_calls", "storage_gb") for at in (80, 100))}
    for account in accounts:
        told = warnings(account)
        assert (len(told), set(told)) == (5, expected)
