"""Metering: each event adds to its account's month and day by the time it happened, erased workflows included."""

from collections import defaultdict
from datetime import UTC, date
from uuid import UUID

from billing.models import UsageDay, UsageRecord, Used
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
    UsageRecord.objects.add(months)
    UsageDay.objects.add(days)


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
