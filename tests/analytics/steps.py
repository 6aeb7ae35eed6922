"""What the tests of analytics do again and again: events of the past, and what was counted of them."""

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import httpx
from django.db import connection, transaction

from analytics.models import (
    AgentDay,
    DailyActivity,
    WorkflowAgent,
    WorkflowError,
    WorkflowResumes,
    WorkflowStats,
    WorkflowStep,
)
from snapstate_project.common.ids import workflow_digest
from snapstate_project.events import recording
from snapstate_project.events.catalogue import Body, CheckpointSaved, WorkflowErased, WorkflowResumed, encode
from tests.events.steps import drain

TYPES: dict[type, str] = {
    CheckpointSaved: "checkpoint.saved",
    WorkflowResumed: "workflow.resumed",
    WorkflowErased: "workflow.erased",
}
DAY = ("day", "checkpoints", "steps", "resumes", "failures")
OF_WORKFLOW: tuple[tuple[str, Any, tuple[str, ...]], ...] = (
    ("steps", WorkflowStep, ("step", "created_at", "size_bytes", "agent_id", "label")),
    ("errors", WorkflowError, ("step", "agent_id", "error_type", "error_message", "created_at")),
    ("resumes", WorkflowResumes, ("day", "count")),
    ("parts", WorkflowAgent, ("agent_id", "steps", "first_at", "last_at")),
)


def save(api: httpx.Client, workflow_id: str, step: int, **more: Any) -> dict[str, Any]:
    """A save over HTTP; `match` replaces the head that has this etag."""
    headers = {"If-Match": more.pop("match")} if "match" in more else {}
    body = {"workflow_id": workflow_id, "step": step, "state": {"n": step}, **more}
    answer = api.post("/checkpoints", json=body, headers=headers)
    assert answer.status_code == 201, answer.text
    saved: dict[str, Any] = answer.json()
    return saved


def read(api: httpx.Client, report: str, **query: Any) -> Any:
    answer = api.get(f"/analytics/{report}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


# --- Events of the past ---


def digest_of(account: Any, workflow_id: str) -> str:
    return workflow_digest(account.id, workflow_id).hex()


def saved(account: Any, workflow_id: str, step: int, **more: Any) -> CheckpointSaved:
    fields = {"digest": digest_of(account, workflow_id), "generation": 1, "sequence": 1, "size_bytes": 10, **more}
    return CheckpointSaved(workflow_id=workflow_id, step=step, **fields)


def resumed(account: Any, workflow_id: str, **more: Any) -> WorkflowResumed:
    return WorkflowResumed(**{"digest": digest_of(account, workflow_id), "generation": 1, **more})


def erased(account: Any, workflow_id: str, generation: int = 2) -> WorkflowErased:
    return WorkflowErased(digest=digest_of(account, workflow_id), generation=generation)


def happened(account: Any, at: datetime | str, *bodies: Body, erased: bool = False) -> None:
    moment = datetime.fromisoformat(at) if isinstance(at, str) else at
    insert((account.id, moment, body, erased) for body in bodies)


def insert(events: Iterable[tuple[uuid.UUID, datetime, Body, bool]]) -> None:
    rows = [
        (uuid.uuid4().bytes, TYPES[type(body)], account_id, at, is_erased, encode(body))
        for account_id, at, body, is_erased in events
    ]
    with transaction.atomic(), connection.cursor() as cursor:
        recording.insert_events(cursor, rows)


def count(*, limit: int = 1_000) -> None:
    drain("analytics", limit=limit)


# --- What was counted ---


def everything_of(account: Any) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of an account, by what names it and not by its id; without sums that came to nothing."""
    stats = list(WorkflowStats.objects.filter(account=account))
    names = {row.pk: (row.account_id, row.workflow_id, row.generation) for row in stats}
    found: dict[str, list[tuple[Any, ...]]] = {
        "stats": [
            (*names[row.pk], row.status, row.total_steps, row.total_size_bytes, row.first_checkpoint_at,
             row.last_checkpoint_at)
            for row in stats
        ],
        "days": list(DailyActivity.objects.filter(account=account).values_list("account", *DAY)),
        "agents": list(
            AgentDay.objects.filter(account=account).values_list("account", "day", "agent_id", "steps")
        ),
    }  # fmt: skip
    for name, model, fields in OF_WORKFLOW:
        rows = model.objects.filter(stats_id__in=names).values_list("stats_id", *fields)
        found[name] = [(names[stats_id], *values) for stats_id, *values in rows]
    found["days"] = [row for row in found["days"] if any(row[2:])]
    return {name: sorted(rows, key=repr) for name, rows in found.items()}


def noon(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=UTC)
