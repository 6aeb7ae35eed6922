"""What operators see of a month: used, billable, charged, and how much of it Stripe has counted."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Sum

from billing import plans
from billing.meter_reports import Key, beyond_free, billable_parts
from billing.models import MeterReport, UsageRecord
from billing.periods import month_before, month_of
from billing.usage import figures_of

SHOWN_AT_MOST = 50


@dataclass(frozen=True, slots=True)
class Told:
    """Of what Stripe should have counted by now, in its own units: how far that has come."""

    account_id: UUID
    month: date
    meter: str
    owed: int
    by_state: Counter[str]

    @property
    def counted(self) -> int:
        return self.by_state[MeterReport.State.SENT]

    @property
    def differs(self) -> bool:
        return self.owed != self.counted

    @property
    def why(self) -> str:
        """Every part of the difference by its state; what is in no report at all is not noted yet."""
        parts = [f"{units:,} {state}" for state, units in self.by_state.items() if state != MeterReport.State.SENT]
        missing = self.owed - self.by_state.total()
        return ", ".join([*parts, *([f"{missing:,} not noted yet"] if missing > 0 else [])])


@dataclass(frozen=True, slots=True)
class Line:
    """A meter of a month on an account's statement."""

    meter: str
    used: Decimal
    billable: Decimal
    charge: Decimal
    told: Told


def statement_of(record: UsageRecord, *, now: datetime) -> list[Line]:
    (figures,) = figures_of([record], now=now)
    told = {each.meter: each for each in told_of([record], now=now)}
    return [
        Line(name, used, plans.METRICS[name].billable(used), plans.METRICS[name].charge(used), told[name])
        for name, used in figures.items()
    ]


def differences(*, now: datetime) -> list[Told]:
    """Of this month and the last, where Stripe has not counted what is billable."""
    month = month_of(now)[0].date()
    records = UsageRecord.objects.filter(beyond_free(), month__in=[month_before(month), month]).order_by("-month", "id")
    found: list[Told] = []
    for told in told_of(list(records[:1_000]), now=now):
        if told.differs and len(found) < SHOWN_AT_MOST:
            found.append(told)
    return found


def told_of(records: list[UsageRecord], *, now: datetime) -> Iterator[Told]:
    owed = dict(billable_parts(records, now=now)) if records else {}
    states = units_by_state(owed)
    for (account_id, month, meter), parts in owed.items():
        yield Told(account_id, month, meter, parts, states[account_id, month, meter])


def units_by_state(keys: Iterable[Key]) -> defaultdict[Key, Counter[str]]:
    accounts = {account_id for account_id, _, _ in keys}
    rows = MeterReport.objects.filter(account_id__in=accounts).order_by()
    states: defaultdict[Key, Counter[str]] = defaultdict(Counter)
    for account_id, month, meter, state, units in rows.values_list("account_id", "month", "meter", "state").annotate(
        total=Sum("units")
    ):
        states[account_id, month, meter][state] = int(units)
    return states
