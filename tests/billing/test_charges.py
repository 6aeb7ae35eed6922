"""What is free, what it costs beyond, to the cent."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from billing.periods import month_of
from billing.plans import GB, METRICS, charge, dollars

MONTHS = [
    ("2026-02-28T23:59:59.999999+00:00", "2026-02-01", "2026-03-01"),
    ("2026-03-01T00:00:00+00:00", "2026-03-01", "2026-04-01"),
    ("2026-12-31T23:59:59+00:00", "2026-12-01", "2027-01-01"),
    ("2028-02-29T12:00:00+00:00", "2028-02-01", "2028-03-01"),
    ("2026-12-01T12:30:00+13:00", "2026-11-01", "2026-12-01"),
]


@pytest.mark.parametrize("metric", METRICS)
def test_the_free_units_cost_nothing(metric):
    assert charge({metric: METRICS[metric].free}) == 0


@pytest.mark.parametrize(
    ("metric", "price"),
    [("checkpoint_writes", "0.001"), ("storage_gb", "0.10"), ("resume_calls", "0.0005"), ("replay_calls", "0.002")],
)
def test_one_unit_past_the_free_ones_costs_its_price(metric, price):
    assert charge({metric: METRICS[metric].free + 1}) == Decimal(price)


def test_charges_of_all_metrics_add_up_exactly():
    used = {"checkpoint_writes": 10_003, "storage_gb": 4, "resume_calls": 5_007, "replay_calls": 1_001}
    assert charge({name: Decimal(units) for name, units in used.items()}) == Decimal("0.3085")


def test_a_byte_past_the_free_gigabyte_is_charged_as_a_byte():
    owed = charge({"storage_gb": Decimal(GB + 1) / GB})
    assert round(owed, 20) == round(Decimal("0.10") / GB, 20)


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0", "$0.00"), ("0.0049", "$0.00"), ("0.005", "$0.01"), ("0.015", "$0.02"), ("1234567.891", "$1234567.89")],
)
def test_dollars_are_shown_in_whole_cents(amount, text):
    assert dollars(Decimal(amount)) == text


@pytest.mark.parametrize(("moment", "start", "end"), MONTHS)
def test_a_month_is_that_of_utc_and_half_open(moment, start, end):
    expected = tuple(datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (start, end))
    assert month_of(datetime.fromisoformat(moment)) == expected
