"""What an account does, as events of the past."""

import random
import uuid
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from django.db import connection, transaction

from billing.models import UsageDay, UsageRecord
from snapstate_project.events import relay
from snapstate_project.events.catalogue import Body, CheckpointSaved, WorkflowReplayed, WorkflowResumed, encode
from snapstate_project.events.models import Event
from tests.events.steps import drain

TYPES: dict[type, str] = {
    CheckpointSaved: "checkpoint.saved",
    WorkflowResumed: "workflow.resumed",
    WorkflowReplayed: "workflow.replayed",
}
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
        relay.insert_events(cursor, rows)


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
