"""What runs behind the pages: who is behind with events, what the archive could not take, what beat has done."""

from datetime import UTC, datetime
from typing import Any

import structlog
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from checkpoints.archive_admin import overview as archive_overview
from checkpoints.models import ArchiveProblem
from snapstate_project import ticks
from snapstate_project.common.admin import ago, second, shortened
from snapstate_project.events import relay, services
from snapstate_project.events.admin import overview as events_overview
from snapstate_project.events.admin import said
from snapstate_project.events.models import SubscriberCursor

PROBLEMS_SHOWN = 5
LATE_PERIODS, PATIENCE_SECONDS = 3, 30.0
COLOURS = {"OK": "success", "Failed": "danger", "Late": "warning", "Not known": "info"}

log = structlog.get_logger(__name__)


def system_page(request: HttpRequest) -> HttpResponse:
    if not request.user.has_perm("events.view_subscribercursor"):
        raise PermissionDenied
    request.current_app = admin.site.name
    shown = {
        "title": "System",
        **events_overview(),
        "archive": archive_overview(),
        "subscribers": subscribers(),
        "problems": problems() if request.user.has_perm("checkpoints.view_archiveproblem") else [],
        "tasks": tasks(timezone.now()),
    }
    return TemplateResponse(request, "admin/system.html", {**admin.site.each_context(request), **shown})


def subscribers() -> list[dict[str, Any]]:
    return [
        {
            "name": cursor.name,
            "url": reverse("admin:events_subscribercursor_change", args=[cursor.pk]),
            "behind": said(services.lag_of(cursor)),
            "failing": cursor.failing_event_id,
            "error": shortened(cursor.failing_error, 120),
        }
        for cursor in SubscriberCursor.objects.filter(name__in=relay.subscribers).order_by("name")
    ]


def problems() -> list[dict[str, Any]]:
    found = ArchiveProblem.objects.select_related("workflow").order_by("-last_at")[:PROBLEMS_SHOWN]
    return [
        {
            "url": reverse("admin:checkpoints_archiveproblem_change", args=[problem.pk]),
            "workflow": shortened(str(problem.workflow)),
            "reason": shortened(problem.reason, 120),
            "attempts": problem.attempts,
            "again": second(problem.workflow.archive_at),
        }
        for problem in found
    ]


def tasks(now: datetime) -> list[dict[str, Any]]:
    """Beat's schedule, and how each task went the last time any worker ended it."""
    try:
        runs = ticks.last_runs()
    except Exception as error:  # noqa: BLE001 (whatever the cache has: the page goes on without it)
        log.warning("runs_not_known", error=repr(error))
        runs = {}
    entries: Any = settings.CELERY_BEAT_SCHEDULE.values()
    return [told(entry["task"], float(entry["schedule"]), runs.get(entry["task"]), now) for entry in entries]


def told(task: str, every: float, run: ticks.Run | None, now: datetime) -> dict[str, Any]:
    state = state_of(every, run, now)
    return {
        "task": task,
        "every": ago(every),
        "state": state,
        "colour": COLOURS[state],
        "ended": second(datetime.fromtimestamp(run.ended_at, UTC)) if run else "-",
        "took": ago(run.seconds) if run else "-",
        "error": run.error if run else "",
    }


def state_of(every: float, run: ticks.Run | None, now: datetime) -> str:
    if run is None:
        return "Not known"
    if run.failed:
        return "Failed"
    is_late = now.timestamp() - run.ended_at > LATE_PERIODS * every + PATIENCE_SECONDS
    return "Late" if is_late else "OK"
