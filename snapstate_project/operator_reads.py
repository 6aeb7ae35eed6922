"""What the Admin API tells of all accounts together: figures, recent activity, workflows and analytics."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from django.db.models import Count, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from accounts.models import Account
from accounts.operator_views import UUID_SHAPE, OperatorView
from analytics import reports
from analytics.models import DailyActivity, WorkflowStats, stalled_before
from analytics.schema import AGENT, DATES, DAYS
from analytics.serializers import FailureReport, Overview
from analytics.views import DATES as DATE_PARSERS
from analytics.views import DEFAULT_DAYS, FAILURES, answer
from analytics.windows import window_of
from checkpoints.answers import summary_of_row
from checkpoints.listing import Position, list_workflows
from checkpoints.models import Workflow
from checkpoints.schema import CURSOR as CURSOR_PARAMETER
from checkpoints.schema import ID_PREFIX, STATUS
from checkpoints.schema import LIMIT as LIMIT_PARAMETER
from checkpoints.serializers import Moment, WorkflowSummary
from snapstate_project import health
from snapstate_project.common.api import HotAPIView, choice, iso, json_response, query, text
from snapstate_project.common.pagination import CURSOR, DEFAULT_LIMIT, LIMIT, decode_cursor, encode_cursor
from snapstate_project.common.threads import in_thread
from snapstate_project.events.models import Event
from snapstate_project.metrics import AsyncOperatorAuthentication

MEGABYTE = 2**20

Id = Annotated[str, msgspec.Meta(extra_json_schema={"format": "uuid"})]


class StatusCounts(msgspec.Struct):
    """Each workflow counts once; `active` are those that have not stalled."""

    active: int = 0
    completed: int = 0
    failed: int = 0
    stalled: int = 0


class ServiceStats(msgspec.Struct):
    """`active_workflows` counts stalled ones too; `storage_used_mb` is history as kept, compressed, in every tier.

    While Postgres is away, what it would tell is 0.
    """

    redis_connected: bool
    postgres_connected: bool
    r2_reachable: bool
    active_workflows: int = 0
    checkpoints_today: int = 0
    total_accounts: int = 0
    storage_used_mb: float = 0.0
    workflow_status: StatusCounts = msgspec.field(default_factory=StatusCounts)


class ActivityEvent(msgspec.Struct):
    """Without a workflow when that was erased since, or when it is the account's own."""

    id: int
    account_id: Id
    email: str | None
    event_type: str
    workflow_id: str | None
    checkpoint_size_bytes: int | None
    created_at: Moment


class ActivityList(msgspec.Struct):
    events: list[ActivityEvent]
    has_more: bool
    next_cursor: str | None


class AccountWorkflow(WorkflowSummary, kw_only=True):
    account_id: Id


class AccountWorkflowList(msgspec.Struct):
    workflows: list[AccountWorkflow]
    has_more: bool
    next_cursor: str | None


class StatsView(HotAPIView):
    authentication_classes = [AsyncOperatorAuthentication]
    permission_classes = []
    throttle_classes = []

    @extend_schema(
        tags=["Operators"],
        operation_id="getStats",
        summary="ServiceStats of the whole service",
        auth=[{"operator": []}],  # type: ignore[list-item]  # as the document has it
        responses=ServiceStats,
    )
    async def get(self, request: HttpRequest) -> HttpResponse:
        """And whether its tiers answer, as of the last ten seconds."""
        query(request, {})
        redis, postgres, archive = await asyncio.gather(health.redis(), health.postgres(), health.archive())
        told: dict[str, Any] = await in_thread(figures, timezone.now()) if postgres else {}
        return json_response(
            ServiceStats(redis_connected=redis, postgres_connected=postgres, r2_reachable=archive, **told)
        )


def figures(now: datetime) -> dict[str, Any]:
    today = DailyActivity.objects.filter(day=now.astimezone(UTC).date()).aggregate(sum=Sum("checkpoints"))
    held = Workflow.objects.aggregate(sum=Sum("stored_bytes"))["sum"] or 0
    statuses = count_statuses(now)
    return {
        "active_workflows": statuses.active + statuses.stalled,
        "checkpoints_today": int(today["sum"] or 0),
        "total_accounts": Account.objects.count(),
        "storage_used_mb": round(int(held) / MEGABYTE, 6),
        "workflow_status": statuses,
    }


def count_statuses(now: datetime) -> StatusCounts:
    is_active, is_idle = Q(status="active"), Q(last_checkpoint_at__lt=stalled_before(now))
    found = WorkflowStats.objects.aggregate(
        active=Count("pk", filter=is_active & ~is_idle),
        stalled=Count("pk", filter=is_active & is_idle),
        completed=Count("pk", filter=Q(status="completed")),
        failed=Count("pk", filter=Q(status="failed")),
    )
    return StatusCounts(**found)


class ActivityView(OperatorView):
    query_parameters = {"limit": LIMIT, "cursor": CURSOR}

    @extend_schema(
        operation_id="listActivity",
        summary="What happened last, newest first",
        parameters=[LIMIT_PARAMETER, CURSOR_PARAMETER],
        responses=ActivityList,
    )
    def get(self, request: Request) -> HttpResponse:  # noqa: ARG002 (the query is parsed already)
        limit, events = self.parameters.get("limit", DEFAULT_LIMIT), Event.objects.order_by("-id")
        if "cursor" in self.parameters:
            events = events.filter(id__lt=decode_cursor(self.parameters["cursor"], tuple[int])[0])
        found = list(events[: limit + 1])
        has_more = len(found) > limit
        next_cursor = encode_cursor((found[limit - 1].pk,)) if has_more else None
        return json_response(ActivityList(list(happenings(found[:limit])), has_more, next_cursor))


def happenings(events: list[Event]) -> Iterator[ActivityEvent]:
    accounts = Account.objects.filter(pk__in={event.account_id for event in events})
    emails = dict(accounts.values_list("pk", "email"))
    for event in events:
        body = event.body
        yield ActivityEvent(
            id=event.pk,
            account_id=str(event.account_id),
            email=emails.get(event.account_id),
            event_type=event.type,
            workflow_id=getattr(body, "workflow_id", "") or None,
            checkpoint_size_bytes=getattr(body, "size_bytes", None),
            created_at=iso(event.at),
        )


def account(value: str) -> UUID:
    if not UUID_SHAPE.fullmatch(value):
        raise ValueError("must be an account's id")
    return UUID(value)


class WorkflowsView(OperatorView):
    query_parameters = {
        "q": text(255),
        "account_id": account,
        "status": choice(STATUS["enum"]),
        "limit": LIMIT,
        "cursor": CURSOR,
    }

    @extend_schema(
        operation_id="listAllWorkflows",
        summary="List workflows of all accounts, newest activity first",
        parameters=[
            OpenApiParameter("q", ID_PREFIX, description="What the workflow's id begins with."),
            OpenApiParameter("account_id", {"type": "string", "format": "uuid"}),
            OpenApiParameter("status", STATUS),
            LIMIT_PARAMETER,
            CURSOR_PARAMETER,
        ],
        responses=AccountWorkflowList,
    )
    def get(self, request: Request) -> HttpResponse:  # noqa: ARG002
        asked = dict(self.parameters)
        limit, cursor = asked.pop("limit", DEFAULT_LIMIT), asked.pop("cursor", None)
        after = decode_cursor(cursor, Position) if cursor else None
        rows, following = list_workflows(asked.pop("account_id", None), asked, limit=limit, after=after)
        workflows = [of_account(row) for row in rows]
        next_cursor = encode_cursor(following) if following else None
        return json_response(AccountWorkflowList(workflows, following is not None, next_cursor))


def of_account(row: Workflow) -> AccountWorkflow:
    return AccountWorkflow(account_id=str(row.account_id), **msgspec.structs.asdict(summary_of_row(row)))


class AllOverviewView(OperatorView):
    query_parameters = DATE_PARSERS

    @extend_schema(
        operation_id="getOverviewOfAllAccounts",
        summary="Workflows, checkpoints and agents of a period, over all accounts",
        parameters=DATES,
        responses=Overview,
    )
    def get(self, request: Request) -> HttpResponse:  # noqa: ARG002
        asked = self.parameters
        window = window_of(asked.get("start_date"), asked.get("end_date"), now=timezone.now())
        return answer(reports.overview(None, window), Overview)


class AllFailuresView(OperatorView):
    query_parameters = FAILURES

    @extend_schema(
        operation_id="getFailuresOfAllAccounts",
        summary="What failed, by step and by agent, over all accounts",
        parameters=[DAYS, AGENT],
        responses=FailureReport,
    )
    def get(self, request: Request) -> HttpResponse:  # noqa: ARG002
        asked = self.parameters
        days, agent_id = asked.get("days", DEFAULT_DAYS), asked.get("agent_id")
        return answer(reports.failures(None, days=days, agent_id=agent_id, now=timezone.now()), FailureReport)
