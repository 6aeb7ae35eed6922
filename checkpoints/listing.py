"""The list of an account's workflows, from Postgres: filters on the head, newest activity first, paged in time."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from checkpoints.json_text import term
from checkpoints.models import Workflow


class Position(msgspec.Struct, array_like=True):
    """Where a list stands: its point in time, and the last row shown."""

    as_of: datetime
    last_activity_at: datetime
    id: int


def list_workflows(
    account_id: UUID | None, filters: dict[str, Any], *, limit: int, after: Position | None
) -> tuple[list[Workflow], Position | None]:
    """One page and where the next begins (None at the end). `account_id` None: of all accounts."""
    as_of = after.as_of if after else timezone.now()
    found = _filtered(Workflow.objects.filter(head_step__isnull=False, last_activity_at__lte=as_of), filters)
    if account_id is not None:
        found = found.filter(account_id=account_id)
    if after:
        found = found.filter(
            Q(last_activity_at__lt=after.last_activity_at)
            | Q(last_activity_at=after.last_activity_at, id__lt=after.id),
            last_activity_at__lte=after.last_activity_at,
        )
    rows = list(found.order_by("-last_activity_at", "-id")[: limit + 1])
    if len(rows) <= limit:
        return rows, None
    last = rows[limit - 1]
    return rows[:limit], Position(as_of, last.last_activity_at or as_of, last.pk)


def _filtered(found: QuerySet[Workflow], filters: dict[str, Any]) -> QuerySet[Workflow]:
    for name, value in filters.items():
        if name == "status":
            found = _of_status(found, value)
        elif name.startswith("metadata."):
            found = found.filter(metadata_terms__contains=[term(name.removeprefix("metadata."), value)])
        else:
            found = found.filter(**{_LOOKUPS[name]: value})
    return found


_LOOKUPS = {
    "agent_id": "agent_id",
    "label": "label",
    "updated_after": "last_activity_at__gt",
    "updated_before": "last_activity_at__lt",
    "q": "workflow_id__startswith",
}


def _of_status(found: QuerySet[Workflow], status: str) -> QuerySet[Workflow]:
    """`stalled` is computed: active, and nothing saved for STALLED_AFTER_SECONDS."""
    if status != "stalled":
        return found.filter(status=status)
    since = timezone.now() - timedelta(seconds=settings.STALLED_AFTER_SECONDS)
    return found.filter(status="active", last_activity_at__lt=since)
