"""Each event counts once, in the UTC day and month in which it happened."""

import random
from datetime import UTC, date, datetime, timedelta

import pytest

from snapstate_project.events import relay
from tests.billing.steps import days, happened, meter, months, recount, replayed, resumed, saved, something_random
from tests.events.steps import at_once, drain


def test_writes_resumes_and_replays_are_counted(account):
    happened(account, [saved(100), saved(23), resumed(), replayed(), replayed(), replayed()], "2026-11-29T12:00Z")
    meter()
    assert days(account) == {date(2026, 11, 29): (2, 1, 3, 123)}
    assert months(account) == {date(2026, 11, 1): (2, 1, 3, 123)}


def test_later_batches_add_to_earlier_ones(account):
    for _ in range(3):
        happened(account, [saved(10)], "2026-11-29T12:00Z")
        meter()
    assert months(account) == {date(2026, 11, 1): (3, 0, 0, 30)}


def test_a_replacement_is_one_write(account):
    happened(account, [saved(), saved(replaced=True)], "2026-11-29T12:00Z")
    meter()
    assert months(account) == {date(2026, 11, 1): (2, 0, 0, 200)}


def test_what_was_erased_before_it_was_metered_is_still_counted(account):
    happened(account, [saved(), resumed()], "2026-11-29T12:00Z", erased=True)
    meter()
    assert months(account) == {date(2026, 11, 1): (1, 1, 0, 100)}


@pytest.mark.parametrize(
    ("at", "day", "month"),
    [
        ("2026-02-28T23:59:59.999999Z", date(2026, 2, 28), date(2026, 2, 1)),
        ("2026-03-01T00:00:00Z", date(2026, 3, 1), date(2026, 3, 1)),
        ("2026-12-31T23:59:59.999999Z", date(2026, 12, 31), date(2026, 12, 1)),
        ("2027-01-01T00:00:00Z", date(2027, 1, 1), date(2027, 1, 1)),
        ("2028-02-29T23:59:59.999999Z", date(2028, 2, 29), date(2028, 2, 1)),
        ("2026-12-01T12:30:00+13:00", date(2026, 11, 30), date(2026, 11, 1)),
    ],
)
@pytest.mark.usefixtures("server_zone")
def test_days_and_months_are_those_of_utc(account, at, day, month):
    happened(account, [saved()], at)
    meter()
    assert (list(days(account)), list(months(account))) == ([day], [month])


def test_racing_relays_count_what_a_recount_counts(make_account):
    choose, accounts = random.Random(7), [make_account() for _ in range(5)]
    for _ in range(300):
        at = datetime(2026, 1, 25, tzinfo=UTC) + timedelta(minutes=choose.randrange(20_000))
        happened(choose.choice(accounts), [something_random(choose)], at.isoformat())
    at_once(*[lambda: drain("billing", limit=7)] * 4)
    meter()
    for account in accounts:
        assert days(account) == recount(account, by_month=False)
        assert months(account) == recount(account, by_month=True)


def test_a_batch_of_many_accounts_is_metered_at_once(make_account):
    accounts = [make_account() for _ in range(20)]
    for account in accounts:
        happened(account, [saved(account.rate_limit_max)], "2026-11-29T12:00Z")
    assert relay.relay_once("billing") == 20
    assert all(months(account)[date(2026, 11, 1)][0] == 1 for account in accounts)
