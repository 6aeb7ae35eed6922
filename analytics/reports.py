"""The reports on all workflows of an account, or of all accounts: from sums and indexes, never from steps.

They come as the fields that `serializers` lists.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Avg, Count, DurationField, ExpressionWrapper, F, Max, Q, QuerySet, Sum
from django.db.models.expressions import Combinable
from django.utils.module_loading import import_string

from analytics.models import (
    AgentDay,
    DailyActivity,
    WorkflowAgent,
    WorkflowError,
    WorkflowStats,
    WorkflowStep,
)
from analytics.windows import Window
from snapstate_project.common.times import iso

TOP_AGENTS = 10
FAILURES_SHOWN = 20
LONGEST_LIST = 1_000
DAILY = ("checkpoints", "steps", "resumes", "failures")

type Report = Mapping[str, Any]
type Seen = tuple[str | None, datetime | None]
"""Name and time last seen of a registered agent."""


def overview(account_id: UUID | None, window: Window) -> Report:
    """Of one account; None: of all."""
    under_way = WorkflowStats.objects.of(account_id).filter(
        last_checkpoint_at__gte=window.begins, first_checkpoint_at__lt=window.ends
    )
    found = under_way.aggregate(
        total=Count("pk"),
        completed=Count("pk", filter=Q(status="completed")),
        failed=Count("pk", filter=Q(status="failed")),
        active=Count("pk", filter=Q(status="active")),
        steps=Avg("total_steps"),
        duration=Avg(duration_of("")),
    )
    activity = activity_by_day(account_id, window)
    return {
        "period": {"start": str(window.start), "end": str(window.end)},
        "total_workflows": found["total"],
        "completed_workflows": found["completed"],
        "failed_workflows": found["failed"],
        "active_workflows": found["active"],
        "total_checkpoints": sum(row["steps"] for row in activity.values()),
        "avg_steps_per_workflow": found["steps"] or 0.0,
        "avg_workflow_duration_seconds": seconds(found["duration"]),
        "top_agents": top_agents(account_id, window),
        "daily": [of_day(day, activity.get(day)) for day in window.days()],
    }


def duration_of(workflow: str) -> Combinable:
    """`workflow` is the way to it: "" or "stats__"."""
    duration = F(f"{workflow}last_checkpoint_at") - F(f"{workflow}first_checkpoint_at")
    return ExpressionWrapper(duration, output_field=DurationField())


def seconds(duration: timedelta | None) -> float:
    return duration.total_seconds() if duration else 0.0


def activity_by_day(account_id: UUID | None, window: Window) -> dict[date, Report]:
    days = DailyActivity.objects.of(account_id).filter(day__range=(window.start, window.end))
    sums = {f"{name}_": Sum(name) for name in DAILY}
    rows: Iterable[Report] = days.values("day").annotate(**sums)
    return {row["day"]: {name: int(row[f"{name}_"]) for name in DAILY} for row in rows}


def of_day(day: date, found: Report | None) -> Report:
    sums = found or dict.fromkeys(DAILY, 0)
    return {"date": str(day), **{name: sums[name] for name in ("checkpoints", "resumes", "failures")}}


def top_agents(account_id: UUID | None, window: Window) -> list[Report]:
    parts = parts_in(account_id, window).values("agent_id")
    found = parts.annotate(workflows=Count("agent_id"), avg_steps=Avg("steps"))
    return list(found.order_by("-workflows", "agent_id")[:TOP_AGENTS])


def parts_in(account_id: UUID | None, window: Window) -> QuerySet[WorkflowAgent]:
    return WorkflowAgent.objects.of(account_id).filter(last_at__gte=window.begins, first_at__lt=window.ends)


def failures(account_id: UUID | None, *, days: int, agent_id: str | None, now: datetime) -> Report:
    """Of the last so many times 24 hours; of one account (None: of all), and of one agent."""
    since = now - timedelta(days=days)
    errors = WorkflowError.objects.of(account_id).filter(created_at__gte=since)
    if agent_id is not None:
        errors = errors.filter(agent_id=agent_id)
    by_step = errors.values("step").annotate(count=Count("pk")).order_by("-count", "step")
    recent = errors.select_related("stats").order_by("-created_at", "-pk")
    return {
        "period_days": days,
        "total_failures": errors.count(),
        "failure_by_step": list(by_step[:LONGEST_LIST]),
        "failure_by_agent": failures_by_agent(account_id, errors, since),
        "recent_failures": [recent_failure(error) for error in recent[:FAILURES_SHOWN]],
    }


def failures_by_agent(account_id: UUID | None, errors: QuerySet[WorkflowError], since: datetime) -> list[Report]:
    found = errors.exclude(agent_id=None).values("agent_id")
    found = found.annotate(count=Count("pk"), failed=Count("stats_id", distinct=True)).order_by("-count", "agent_id")
    rows: list[Report] = list(found[:LONGEST_LIST])
    agent_ids = [row["agent_id"] for row in rows]
    parts = WorkflowAgent.objects.of(account_id).filter(last_at__gte=since, agent_id__in=agent_ids)
    workflows = dict(parts.values_list("agent_id").annotate(Count("agent_id")))
    return [
        {
            "agent_id": row["agent_id"],
            "count": row["count"],
            "error_rate": rate(row["failed"], workflows.get(row["agent_id"], 0)),
        }
        for row in rows
    ]


def rate(failed: int, workflows: int) -> float:
    return min(failed / workflows, 1.0) if workflows else 0.0


def recent_failure(error: WorkflowError) -> Report:
    return {
        "workflow_id": error.stats.workflow_id,
        "step": error.step,
        "agent_id": error.agent_id,
        "error_type": error.error_type,
        "error_message": error.error_message,
        "created_at": iso(error.created_at),
    }


def agents(account_id: UUID, window: Window) -> Report:
    """Of the agents with a part in a workflow of these days, those with the most, LONGEST_LIST of them.

    Which these are is asked first: an account may name another agent in each save, and the rest is asked of few.
    """
    parts = parts_in(account_id, window)
    most = parts.values("agent_id").annotate(total=Count("agent_id")).order_by("-total", "agent_id")
    names: list[str] = [row["agent_id"] for row in most[:LONGEST_LIST]]
    found = {row["agent_id"]: row for row in work_of(parts.filter(agent_id__in=names))}
    steps, failed = steps_by_agent(account_id, window, names), failed_by_agent(account_id, window, names)
    known = known_agents(account_id, names)
    return {
        "agents": [
            agent_report(found[name], steps.get(name, 0), failed.get(name, 0), known.get(name))
            for name in names
            if name in found  # else erased since the first query
        ]
    }


def work_of(parts: QuerySet[WorkflowAgent]) -> Iterable[Report]:
    """Of each agent."""
    rows: Iterable[Report] = parts.values("agent_id").annotate(
        total=Count("agent_id"),
        active=Count("agent_id", filter=Q(stats__status="active")),
        avg_steps=Avg("steps"),
        duration=Avg(duration_of("stats__")),
        last_at=Max("last_at"),
    )
    return rows


def agent_report(row: Report, steps: int, failed: int, known: Seen | None) -> Report:
    name, seen_at = known or (None, None)
    return {
        "agent_id": row["agent_id"],
        "name": name or row["agent_id"],
        "total_workflows": row["total"],
        "active_workflows": row["active"],
        "avg_steps": row["avg_steps"],
        "avg_duration_seconds": seconds(row["duration"]),
        "total_checkpoints": steps,
        "error_rate": rate(failed, row["total"]),
        "last_seen_at": iso(max(row["last_at"], seen_at or row["last_at"])),
    }


def steps_by_agent(account_id: UUID, window: Window, names: Iterable[str]) -> dict[str, int]:
    days = AgentDay.objects.of(account_id).filter(day__range=(window.start, window.end), agent_id__in=names)
    return {agent_id: int(steps) for agent_id, steps in days.values_list("agent_id").annotate(Sum("steps"))}


def failed_by_agent(account_id: UUID, window: Window, names: Iterable[str]) -> dict[str, int]:
    """How many workflows each failed in."""
    errors = WorkflowError.objects.of(account_id).filter(created_at__gte=window.begins, created_at__lt=window.ends)
    theirs = errors.filter(agent_id__in=names)
    return dict(theirs.values_list("agent_id").annotate(Count("stats_id", distinct=True)))


def known_agents(account_id: UUID, agent_ids: Iterable[str]) -> dict[str, Seen]:
    """Asked of the room that settings.KNOWN_AGENTS names: rooms do not import one another."""
    known: Callable[[UUID, Iterable[str]], dict[str, Seen]] = import_string(settings.KNOWN_AGENTS)
    return known(account_id, agent_ids)


def agents_of_steps(account_id: UUID, digest: bytes, steps: Iterable[int]) -> dict[int, str]:
    """Who saved each of these steps of one workflow, as far as it was said."""
    stats = WorkflowStats.objects.filter(account_id=account_id, digest=digest).values("pk")[:1]
    named = WorkflowStep.objects.filter(stats_id__in=stats, step__in=list(steps)).exclude(agent_id=None)
    return {step: str(agent_id) for step, agent_id in named.values_list("step", "agent_id")}


def errors_of_workflow(account_id: UUID, digest: bytes, *, limit: int) -> list[dict[str, Any]]:
    """The newest errors of one workflow; none when it is unknown here."""
    stats = WorkflowStats.objects.filter(account_id=account_id, digest=digest).values("pk")[:1]
    found = WorkflowError.objects.filter(stats_id__in=stats).order_by("-created_at", "-id")[:limit]
    return [
        {
            "step": error.step,
            "at": f"{error.created_at.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
            "agent_id": error.agent_id,
            "type": error.error_type,
            "message": error.error_message,
        }
        for error in found
    ]
