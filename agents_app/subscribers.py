"""A save or a resume that names an agent is a sight of it."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from agents_app.models import Agent
from snapstate_project.common.ids import AGENT_ID
from snapstate_project.events.catalogue import CheckpointSaved, WorkflowResumed
from snapstate_project.events.models import Event
from snapstate_project.events.relay import subscribe


@subscribe("agents", "checkpoint.saved", "workflow.resumed")
def note_last_seen(events: list[Event]) -> None:
    latest: dict[tuple[UUID, str], datetime] = {}
    for agent, at in sights(events):
        latest[agent] = max(at, latest.get(agent, at))
    Agent.objects.note_last_seen(latest)


def sights(events: list[Event]) -> Iterator[tuple[tuple[UUID, str], datetime]]:
    for event in events:
        body = event.body
        named = body.agent_id if isinstance(body, CheckpointSaved | WorkflowResumed) else None
        if named and AGENT_ID.fullmatch(named):  # nothing else can be registered
            yield (event.account_id, named), event.at
