"""Workflows whose archiving failed: set aside with the reason, tried again later, or when an operator says so."""

from datetime import datetime, timedelta

import structlog
from django.db.models import QuerySet
from django.utils import timezone

from checkpoints.models import ArchiveProblem, Workflow

LONGEST_RETRY = timedelta(hours=6)

log = structlog.get_logger(__name__)


def set_aside(workflow: Workflow, error: Exception, now: datetime) -> None:
    """Keep the reason for operators and try again later, each time later."""
    log.error("archiving_failed", digest=bytes(workflow.digest).hex(), exc_info=error)
    cause = error.__cause__ or error
    problem, created = ArchiveProblem.objects.get_or_create(workflow=workflow, defaults={"reason": repr(cause)[:2000]})
    if not created:
        problem.attempts, problem.reason = problem.attempts + 1, repr(cause)[:2000]
        problem.save()
    retry = min(timedelta(minutes=1) * 2 ** min(problem.attempts, 10), LONGEST_RETRY)
    Workflow.objects.filter(pk=workflow.pk, archive_at__isnull=False).update(archive_at=now + retry)


def retry_now(problems: QuerySet[ArchiveProblem]) -> int:
    """Make what was set aside due at once; how many workflows that is."""
    waiting = Workflow.objects.filter(archive_problem__in=problems, archive_at__isnull=False)
    return waiting.update(archive_at=timezone.now())
