"""What an account used in a month and what that costs: the usage object of `GET /usage` and the Admin API."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TypedDict
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from billing import plans
from billing.models import UsageRecord
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
    """The month that `now` falls in, so far."""
    start, end = month_of(now or timezone.now())
    record = record_of(account_id, start.date())
    held = Decimal(storage_held_bytes(account_id)) / plans.GB
    used = {
        "checkpoint_writes": Decimal(record.checkpoint_writes),
        "storage_gb": held,
        "resume_calls": Decimal(record.resume_calls),
        "replay_calls": Decimal(record.replay_calls),
    }
    return {
        "period": {"start": iso(start), "end": iso(end)},
        "usage": {
            "checkpoint_writes": counted("checkpoint_writes", record.checkpoint_writes),
            "storage_gb": stored(held),
            "resume_calls": counted("resume_calls", record.resume_calls),
            "replay_calls": counted("replay_calls", record.replay_calls),
        },
        "estimated_charge": plans.dollars(plans.charge(used)),
    }


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


def month_of(moment: datetime) -> tuple[datetime, datetime]:
    """[start, end) of the UTC month around a moment."""
    start = moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    following = start.year * 12 + start.month
    return start, start.replace(year=following // 12, month=following % 12 + 1)


def record_of(account_id: UUID, month: date) -> UsageRecord:
    """The record, or one of zeros (not saved) for a month without use."""
    found = UsageRecord.objects.filter(account_id=account_id, month=month).first()
    return found or UsageRecord(account_id=account_id, month=month)


def storage_held_bytes(account_id: UUID) -> int:
    """Asked of the room that settings.STORAGE_HELD names: rooms do not import one another."""
    held: Callable[[UUID], int] = import_string(settings.STORAGE_HELD)
    return held(account_id)


def counted(metric: str, count: int) -> Counted:
    allowance = plans.METRICS[metric]
    used = Decimal(count)
    return {
        "count": count,
        "free_remaining": int(allowance.free_remaining(used)),
        "billable": int(allowance.billable(used)),
    }


def stored(held_gb: Decimal) -> Stored:
    allowance = plans.METRICS["storage_gb"]
    return {
        "current": gigabytes(held_gb),
        "free_remaining": gigabytes(allowance.free_remaining(held_gb)),
        "billable": gigabytes(allowance.billable(held_gb)),
    }


def gigabytes(exact: Decimal) -> float:
    """To nine decimals: about a byte."""
    return float(round(exact, 9))
