"""What an account used in a month and what that costs: the usage object of `GET /usage` and the Admin API."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TypedDict
from uuid import UUID

from django.utils import timezone

from billing import plans, storage
from billing.models import UsageRecord
from billing.models import Used as UsedUnits
from billing.periods import month_of
from billing.storage import Sampled
from snapstate_project.common.times import iso


class Period(TypedDict):
    start: str
    end: str


class Counted(TypedDict):
    count: int
    free_remaining: int
    billable: int


class Stored(TypedDict):
    current: float
    free_remaining: float
    billable: float


class Used(TypedDict):
    checkpoint_writes: Counted
    storage_gb: Stored
    resume_calls: Counted
    replay_calls: Counted


class UsageObject(TypedDict):
    period: Period
    usage: Used
    estimated_charge: str


class UsageThisMonth(TypedDict):
    checkpoint_writes: int
    checkpoint_reads: int
    resume_calls: int
    replay_calls: int
    storage_bytes_written: int


def usage_of(account_id: UUID, *, now: datetime | None = None) -> UsageObject:
    """The month that `now` falls in, so far.

    What storage is free and billed follows the month's figure, the mean of its samples; `current` is what is held now.
    """
    now = now or timezone.now()
    start, end = month_of(now)
    record = record_of(account_id, start.date())
    used = figures_of([record], now=now)[0]
    return {
        "period": {"start": iso(start), "end": iso(end)},
        "usage": {
            "checkpoint_writes": counted("checkpoint_writes", record.checkpoint_writes),
            "storage_gb": stored(Decimal(storage.held_bytes(account_id)) / plans.GB, used["storage_gb"]),
            "resume_calls": counted("resume_calls", record.resume_calls),
            "replay_calls": counted("replay_calls", record.replay_calls),
        },
        "estimated_charge": plans.dollars(plans.charge(used)),
    }


def figures_of(records: Sequence[UsageRecord], *, now: datetime) -> list[dict[str, Decimal]]:
    """For each record its units by metric: what is charged, in the API, the admin and Stripe alike.

    Of storage that is the mean of the month's samples; before the first of them, what is held now.
    """
    if not records:
        return []
    ids, months = {record.account_id for record in records}, [record.month for record in records]
    samples = storage.samples_of(ids, min(months), max(months))
    return [
        {**units_counted(record), "storage_gb": held_gb(record, samples.get((record.account_id, record.month)), now)}
        for record in records
    ]


def held_gb(record: UsageRecord, sampled: Sampled | None, now: datetime) -> Decimal:
    if sampled:
        return sampled.mean_gb
    is_now = record.month == month_of(now)[0].date()
    return Decimal(storage.held_bytes(record.account_id)) / plans.GB if is_now else Decimal(0)


def units_counted(used: UsageRecord | UsedUnits) -> dict[str, Decimal]:
    return {metric: Decimal(getattr(used, metric)) for metric in plans.COUNTED}


def usage_this_month(account_id: UUID, *, now: datetime | None = None) -> UsageThisMonth:
    """The Admin API's plain sums; reads are the calls that handed out checkpoints."""
    record = record_of(account_id, month_of(now or timezone.now())[0].date())
    return {
        "checkpoint_writes": record.checkpoint_writes,
        "checkpoint_reads": record.resume_calls + record.replay_calls,
        "resume_calls": record.resume_calls,
        "replay_calls": record.replay_calls,
        "storage_bytes_written": record.storage_bytes_written,
    }


def record_of(account_id: UUID, month: date) -> UsageRecord:
    """The record, or one of zeros (not saved) for a month without use."""
    found = UsageRecord.objects.filter(account_id=account_id, month=month).first()
    return found or UsageRecord(account_id=account_id, month=month)


def counted(metric: str, count: int) -> Counted:
    allowance = plans.METRICS[metric]
    used = Decimal(count)
    return {
        "count": count,
        "free_remaining": int(allowance.free_remaining(used)),
        "billable": int(allowance.billable(used)),
    }


def stored(current_gb: Decimal, figure_gb: Decimal) -> Stored:
    allowance = plans.METRICS["storage_gb"]
    return {
        "current": gigabytes(current_gb),
        "free_remaining": gigabytes(allowance.free_remaining(figure_gb)),
        "billable": gigabytes(allowance.billable(figure_gb)),
    }


def gigabytes(exact: Decimal) -> float:
    """To nine decimals: about a byte."""
    return float(round(exact, 9))
