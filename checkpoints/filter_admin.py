"""What operators look for workflows by. A filter that an index serves for few rows is asked there; the rest by time."""

import re
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.contrib.filters.admin import DropdownFilter, TextFilter

from accounts.models import Account
from checkpoints.json_text import term
from checkpoints.models import Workflow, WorkflowStatus
from snapstate_project.common.admin import MomentRangeFilter

FEW = 2_000
"""So many rows that match are all looked at, whenever they were active; of more, the newest are."""
DIGEST = re.compile(r"[0-9a-f]{32}")
COLOURS = {"active": "info", "stalled": "warning", "completed": "success", "failed": "danger"}

type Rows = QuerySet[Workflow]


class Narrowing:
    """A filter that the order by activity serves by itself: nothing is read that it leaves out."""


class Sifting:
    """A filter that reads what it leaves out, unless `is_complete`: then it named its rows."""

    is_complete = False

    def narrowed_to_few(self, rows: Rows, condition: Q) -> Rows:
        found = few(condition)
        self.is_complete = found is not None
        return rows.filter(condition if found is None else Q(pk__in=found))


class AccountFilter(Narrowing, TextFilter):
    title = "account: email or id"
    parameter_name = "account"

    def queryset(self, request: HttpRequest, queryset: Rows) -> Rows:
        return queryset.filter(account=account_named(self.value())) if self.value() else queryset


class ActivityFilter(Narrowing, MomentRangeFilter):
    pass


class AgentFilter(Sifting, TextFilter):
    title = "agent of the head"
    parameter_name = "agent"

    def queryset(self, request: HttpRequest, queryset: Rows) -> Rows:
        return self.narrowed_to_few(queryset, Q(agent_id=self.value())) if self.value() else queryset


class LabelFilter(Sifting, TextFilter):
    title = "label of the head"
    parameter_name = "label"

    def queryset(self, request: HttpRequest, queryset: Rows) -> Rows:
        return queryset.filter(label=self.value()) if self.value() else queryset


class MetadataFilter(Sifting, TextFilter):
    title = "metadata: key=value"
    parameter_name = "metadata"

    def queryset(self, request: HttpRequest, queryset: Rows) -> Rows:
        key, is_pair, value = (self.value() or "").partition("=")
        if not self.value():
            return queryset
        if not is_pair:
            self.is_complete = True
            return queryset.none()
        return self.narrowed_to_few(queryset, Q(metadata_terms__contains=[term(key.strip(), value.strip())]))


class StatusFilter(Sifting, DropdownFilter):
    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in COLOURS]

    def queryset(self, request: HttpRequest, queryset: Rows) -> Rows:
        if self.value() not in COLOURS:
            return queryset
        if self.value() == "stalled":
            return queryset.filter(status=WorkflowStatus.ACTIVE, last_activity_at__lt=stalled_since())
        return queryset.filter(status=self.value())


class TierFilter(Sifting, DropdownFilter):
    title = "tier"
    parameter_name = "tier"
    tiers = {
        "live": Q(evicted_at=None) | Q(evict_at__isnull=False),
        "archive": Q(evicted_at__isnull=False, evict_at=None),
        "pinned": Q(pinned=True),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in self.tiers]

    def queryset(self, request: HttpRequest, queryset: Rows) -> Rows:
        return queryset.filter(self.tiers.get(self.value() or "", Q()))


FILTERS = (
    AccountFilter,
    StatusFilter,
    TierFilter,
    AgentFilter,
    LabelFilter,
    MetadataFilter,
    ("last_activity_at", ActivityFilter),
)


def few(condition: Q) -> list[int] | None:
    """The rows that an index names, of every account; None when they are more than FEW."""
    found = of_every_account(Workflow.objects.filter(condition)).order_by().values_list("pk", flat=True)[: FEW + 1]
    rows = list(found)
    return rows if len(rows) <= FEW else None


def of_every_account(workflows: Rows) -> Rows:
    """The same rows, asked for account by account: every index of workflows begins with the account."""
    return workflows.filter(account_id__in=Account.objects.order_by().values("pk"))


def account_named(text: str | None) -> UUID | None:
    """The account with this id or email."""
    try:
        return UUID(text or "")
    except ValueError:
        return Account.objects.filter(email=(text or "").strip().lower()).values_list("pk", flat=True).first()


def stalled_since() -> datetime:
    return timezone.now() - timedelta(seconds=settings.STALLED_AFTER_SECONDS)
