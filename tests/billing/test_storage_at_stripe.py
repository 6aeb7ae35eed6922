"""Of a month's storage Stripe is told what is certain, day by day, and the mean when the month is over."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from billing.meter_reports import note_billable
from billing.models import MeterReport
from billing.storage import sample_storage
from tests.billing.steps import THIS_MONTH, ledger


def tell(account, *, now):
    note_billable(now=now)
    MeterReport.objects.filter(account=account).update(state="sent")


@pytest.mark.parametrize(
    ("first", "days"),
    [(date(2028, 2, 1), 29), (date(2026, 2, 1), 28), (date(2026, 11, 1), 30), (date(2026, 12, 1), 31)],
)
def test_storage_only_ever_grows_at_stripe_and_ends_as_the_mean(account, customer, hold, first, days):
    start, told_so_far = datetime.combine(first, datetime.min.time(), UTC), []
    for day in range(days):
        hold(account, [5, 0, 3][day % 3])
        sample_storage(now=start + timedelta(days=day))
        tell(account, now=start + timedelta(days=day, hours=1))
        told_so_far.append(ledger(account, "storage_gb"))
    tell(account, now=start + timedelta(days=days, hours=1))
    mean = Decimal(sum([5, 0, 3][day % 3] for day in range(days))) / days
    assert told_so_far == sorted(told_so_far)
    assert ledger(account, "storage_gb") == int((mean - 1) * 1024)


def test_a_month_with_days_that_nobody_looked_at_is_told_by_its_mean(account, customer, hold):
    start = datetime.combine(THIS_MONTH, datetime.min.time(), UTC) - timedelta(days=10)
    hold(account, 3)
    sample_storage(now=start)
    note_billable(now=start + timedelta(hours=1))
    assert ledger(account, "storage_gb") == 0
    note_billable(now=start + timedelta(days=11))
    assert ledger(account, "storage_gb") == 2 * 1024
