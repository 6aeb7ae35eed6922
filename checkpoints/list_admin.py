"""The list of workflows: newest activity first, page after page by key, and never more than a stretch looked at."""

from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from unfold.views import ChangeList

from checkpoints.filter_admin import Narrowing, Sifting
from checkpoints.models import Workflow
from snapstate_project.common import admin
from snapstate_project.common.admin import second
from snapstate_project.common.errors import ValidationFailed
from snapstate_project.common.pagination import decode_cursor, encode_cursor

BEFORE = "before"
STRETCH = 20_000
"""Rows in the order of activity that one page looks through for those that are sought."""
ORDER = ("-last_activity_at", "-id")


class Position(msgspec.Struct, array_like=True, frozen=True):
    """The last row that was shown, or looked at."""

    last_activity_at: datetime
    id: int


class InfinitePaginator(admin.InfinitePaginator):
    """By the name of its class Unfold's header knows that there is no number of results to show."""

    template_name = "admin/checkpoints/pages.html"


class WorkflowList(ChangeList):
    """`following`: where the next page begins. `looked_back_to`: how far this one looked, where that may not do."""

    scan: QuerySet[Workflow]
    following: str | None
    looked_back_to: str | None
    is_first: bool

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        self.before = position_in(request.GET.get(BEFORE))
        super().__init__(request, *args, **kwargs)

    def get_filters_params(self, params: Any = None) -> Any:
        return {name: value for name, value in super().get_filters_params(params).items() if name != BEFORE}

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Workflow]:
        found: QuerySet[Workflow] = super().get_queryset(request, exclude_parameters)
        self.scan = self.root_queryset
        for spec in self.filter_specs:
            if isinstance(spec, Narrowing):
                narrowed = spec.queryset(request, self.scan)
                self.scan = self.scan.none() if narrowed is None else narrowed
        return found

    def get_results(self, request: HttpRequest) -> None:
        """What Django would count and cut by offset."""
        found, scan = behind(self.queryset, self.before), behind(self.scan, self.before)
        until = self.end_of_stretch(request, scan)
        if until:
            found = found.filter(last_activity_at__gte=until)
        rows = list(found.order_by(*ORDER)[: self.list_per_page + 1])
        self.result_list = rows[: self.list_per_page]
        more = len(rows) > self.list_per_page
        last = self.result_list[-1] if more else None
        at = Position(last.last_activity_at, last.pk) if last and last.last_activity_at else None
        self.looked_back_to = second(until) if until and not more else None
        position = at or (Position(until, 0) if until else None)
        self.following = encode_cursor(position) if position else None
        self.is_first = self.before is None
        self.result_count = len(self.result_list)
        self.full_result_count = None
        self.show_full_result_count = self.can_show_all = False
        self.multi_page = self.show_admin_actions = True
        self.paginator = InfinitePaginator(self.queryset, self.list_per_page)

    def end_of_stretch(self, request: HttpRequest, scan: QuerySet[Workflow]) -> datetime | None:
        """How far back this page looks; None where everything it reads is wanted, or named by an index."""
        sifting = [spec for spec in self.filter_specs if isinstance(spec, Sifting) and spec.value() is not None]  # type: ignore[attr-defined]
        if any(spec.is_complete for spec in sifting) or getattr(request, "found_by_index", False):
            return None
        if not sifting and not self.query:
            return None
        moments = scan.order_by(*ORDER).values_list("last_activity_at", flat=True)
        return next(iter(moments[STRETCH : STRETCH + 1]), None)

    @property
    def older_url(self) -> str:
        return str(self.get_query_string({BEFORE: self.following}))

    @property
    def newest_url(self) -> str:
        return str(self.get_query_string({BEFORE: None}))


def behind(rows: QuerySet[Workflow], position: Position | None) -> QuerySet[Workflow]:
    if position is None:
        return rows
    at = position.last_activity_at
    return rows.filter(
        Q(last_activity_at__lt=at) | Q(last_activity_at=at, id__lt=position.id), last_activity_at__lte=at
    )


def position_in(cursor: str | None) -> Position | None:
    """None for what is no cursor of ours: then the list begins at its beginning."""
    try:
        return decode_cursor(cursor, Position) if cursor else None
    except ValidationFailed:
        return None
