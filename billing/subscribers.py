"""Metering: each event adds to its account's month and day by the time it happened, erased workflows included.

A month that comes near the end of its free units is told so, in the same transaction.
"""

from collections import defaultdict
from datetime import UTC, date
from uuid import UUID

from billing.models import UsageDay, UsageRecord, Used
from billing.quotas import warn
from billing.usage import units_counted
from snapstate_project.events.catalogue import Body, CheckpointSaved, WorkflowReplayed, WorkflowResumed
from snapstate_project.events.models import Event
from snapstate_project.events.relay import subscribe


@subscribe("billing", "checkpoint.saved", "workflow.resumed", "workflow.replayed")
def meter(events: list[Event]) -> None:
    days: defaultdict[tuple[UUID, date], Used] = defaultdict(Used)
    months: defaultdict[tuple[UUID, date], Used] = defaultdict(Used)
    for event in events:
        day = event.at.astimezone(UTC).date()
        body = event.body
        count(body, days[event.account_id, day])
        count(body, months[event.account_id, day.replace(day=1)])
    UsageDay.objects.add(days)
    sums = UsageRecord.objects.add(months)
    warn({key: units_counted(used) for key, used in sums.items()})  # last: it writes events


def count(body: Body, used: Used) -> None:
    """A replacement is a write like any other; each answered page of a replay is one call."""
    match body:
        case CheckpointSaved():
            used.checkpoint_writes += 1
            used.storage_bytes_written += body.size_bytes
        case WorkflowResumed():
            used.resume_calls += 1
        case WorkflowReplayed():
            used.replay_calls += 1
