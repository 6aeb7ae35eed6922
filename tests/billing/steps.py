"""What an account does, as events of the past."""

import random
import uuid
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from billing.meter_reports import note_billable, send_waiting
from billing.models import MeterReport, QuotaWarning, StorageSample, UsageDay, UsageRecord
from billing.periods import month_of
from snapstate_project.events import recording
from snapstate_project.events.catalogue import Body, CheckpointSaved, WorkflowReplayed, WorkflowResumed, encode
from snapstate_project.events.models import Event
from tests.events.steps import drain

TYPES: dict[type, str] = {
    CheckpointSaved: "checkpoint.saved",
    WorkflowResumed: "workflow.resumed",
    WorkflowReplayed: "workflow.replayed",
}
HELD: dict[uuid.UUID, int] = {}
THIS_MONTH = month_of(timezone.now())[0].date()
COLUMNS = ("checkpoint_writes", "resume_calls", "replay_calls", "storage_bytes_written")


def saved(size_bytes: int = 100, **more: Any) -> CheckpointSaved:
    return CheckpointSaved(digest="d" * 32, generation=1, sequence=1, step=1, size_bytes=size_bytes, **more)


def resumed() -> WorkflowResumed:
    return WorkflowResumed(digest="d" * 32, generation=1)


def replayed() -> WorkflowReplayed:
    return WorkflowReplayed(digest="d" * 32, generation=1, count=7)


def happened(account: Any, bodies: Iterable[Body], at: str, *, erased: bool = False) -> None:
    moment = datetime.fromisoformat(at)
    rows = [(uuid.uuid4().bytes, TYPES[type(body)], account.id, moment, erased, encode(body)) for body in bodies]
    with transaction.atomic(), connection.cursor() as cursor:
        recording.insert_events(cursor, rows)


def meter() -> None:
    drain("billing", limit=1_000)


def days(account: Any) -> dict[date, tuple[int, ...]]:
    return {row[0]: row[1:] for row in UsageDay.objects.filter(account=account).values_list("day", *COLUMNS)}


def months(account: Any) -> dict[date, tuple[int, ...]]:
    return {row[0]: row[1:] for row in UsageRecord.objects.filter(account=account).values_list("month", *COLUMNS)}


def something_random(choose: random.Random) -> Body:
    bodies: list[Body] = [saved(choose.randrange(1_000_000)), resumed(), replayed()]
    return choose.choice(bodies)


def recount(account: Any, *, by_month: bool) -> dict[date, tuple[int, ...]]:
    """The same sums straight from the events, one by one."""
    sums: dict[date, Counter[str]] = {}
    for event in Event.objects.filter(account_id=account.id):
        day = event.at.astimezone(UTC).date()
        counter = sums.setdefault(day.replace(day=1) if by_month else day, Counter())
        counter[event.type] += 1
        counter["bytes"] += getattr(event.body, "size_bytes", 0)
    return {when: tuple(counter[name] for name in [*TYPES.values(), "bytes"]) for when, counter in sums.items()}


def hold(account: Any, gigabytes: float) -> None:
    HELD[account.id] = int(gigabytes * 2**30)


def held_bytes(account_id: uuid.UUID) -> int:
    return HELD.get(account_id, 0)


def held_by_account() -> dict[uuid.UUID, int]:
    return dict(HELD)


def samples(account: Any) -> dict[date, int]:
    return dict(StorageSample.objects.filter(account=account).order_by("day").values_list("day", "bytes"))


def warnings(account: Any) -> list[tuple[str, int]]:
    """The warnings there are, and that each was told once."""
    told = Event.objects.filter(account_id=account.id, type="quota.exceeded").order_by("id")
    bodies: list[Any] = [event.body for event in told]
    rows = QuotaWarning.objects.filter(account=account).order_by("id").values_list("meter", "threshold")
    assert sorted((body.meter, body.threshold) for body in bodies) == sorted(rows)
    return [(body.meter, body.threshold) for body in bodies]


# --- The ledger ---


def use(account, month=THIS_MONTH, **units):
    UsageRecord.objects.update_or_create(account=account, month=month, defaults=units)


def rows(account, *names, **only):
    return list(MeterReport.objects.filter(account=account, **only).order_by("id").values_list(*names))


def ledger(account, meter="checkpoint_writes", **only):
    return sum(units for (units,) in rows(account, "units", meter=meter, **only))


def told(now=None):
    note_billable(now=now)
    return send_waiting(now=now)
