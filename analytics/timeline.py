"""The report on one workflow, step by step; as the fields of `serializers.WorkflowReport`."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.db.models import Sum

from analytics.errors import WorkflowUnknown
from analytics.models import WorkflowAgent, WorkflowError, WorkflowResumes, WorkflowStats, WorkflowStep
from snapstate_project.common.ids import workflow_digest
from snapstate_project.common.times import iso

STEPS_SHOWN = 1_000
AGENTS_SHOWN = 1_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

type Report = Mapping[str, Any]


def workflow_report(account_id: UUID, workflow_id: str, *, now: datetime) -> Report:
    digest = workflow_digest(account_id, workflow_id)
    stats = WorkflowStats.objects.filter(account_id=account_id, digest=digest).first()
    if stats is None:
        raise WorkflowUnknown
    agents = WorkflowAgent.objects.filter(stats=stats).order_by("first_at", "agent_id")
    resumed_count = int(WorkflowResumes.objects.filter(stats=stats).aggregate(count=Sum("count"))["count"] or 0)
    return {
        "workflow_id": stats.workflow_id,
        "total_steps": stats.total_steps,
        "total_size_bytes": stats.total_size_bytes,
        "duration_seconds": milliseconds_between(stats.first_checkpoint_at, stats.last_checkpoint_at) / 1000,
        "status": stats.status_at(now),
        "agents_involved": list(agents.values_list("agent_id", flat=True)[:AGENTS_SHOWN]),
        "checkpoints": steps_seen(stats),
        "resumed": resumed_count > 0,
        "resumed_count": resumed_count,
        "error_count": WorkflowError.objects.filter(stats=stats).count(),
        "first_checkpoint_at": iso(stats.first_checkpoint_at),
        "last_checkpoint_at": iso(stats.last_checkpoint_at),
    }


def steps_seen(stats: WorkflowStats) -> list[Report]:
    newest = WorkflowStep.objects.filter(stats=stats).order_by("-step")[: STEPS_SHOWN + 1]
    steps: list[WorkflowStep | None] = [*reversed(newest)]
    if len(steps) <= STEPS_SHOWN:
        steps.insert(0, None)
    return [step_seen(before, step) for before, step in pairwise(steps) if step]


def step_seen(before: WorkflowStep | None, step: WorkflowStep) -> Report:
    since = milliseconds_between(before.created_at, step.created_at) if before else 0
    return {
        "step": step.step,
        "label": step.label,
        "size_bytes": step.size_bytes,
        "time_since_previous_ms": max(since, 0),
        "agent_id": step.agent_id,
        "created_at": iso(step.created_at),
    }


def milliseconds_between(earlier: datetime, later: datetime) -> int:
    """Between the times as they are shown: cut to the millisecond."""
    return (later - EPOCH) // MILLISECOND - (earlier - EPOCH) // MILLISECOND
