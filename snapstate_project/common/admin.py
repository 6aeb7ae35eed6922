"""Admin lists over large tables: never a COUNT(*), nothing to add, change or delete, pages by a query of their own."""

from datetime import UTC, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.contrib.admin import ShowFacets
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import NoReverseMatch, reverse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import RangeDateTimeFilter

DEEPEST_PAGE = 200
LONGEST_NUMBER = 19
LONGEST_ACCOUNT = 36  # an id whole
WRAPPED = '<span style="overflow-wrap: anywhere">{}</span>'
LINK = '<a href="{}" class="whitespace-nowrap text-primary-600 dark:text-primary-500">{}</a>'
ACCOUNT = '<a href="{}" title="{}" class="account-link whitespace-nowrap text-primary-600 dark:text-primary-500">{}</a>'


class NotNow(Exception):
    """An operator asks for what the operator may do, and what a row, as it is by now, is no longer open to."""


def offered(request: HttpRequest, action: str, *, may: bool, fits: bool) -> bool:
    """Whether a button is shown. At the action's own address what does not fit raises NotNow: no right is lacking."""
    match = request.resolver_match
    if may and not fits and match and (match.url_name or "").endswith(f"_{action}"):
        raise NotNow
    return may and fits


def go_to(request: HttpRequest, url: str) -> HttpResponse:
    """A redirect, also for a dialog that htmx sent."""
    return HttpResponse(headers={"HX-Redirect": url}) if "HX-Request" in request.headers else redirect(url)


class InfinitePaginator(Paginator):  # type: ignore[type-arg]  # generic only in the stubs
    """Knows of the page it is asked for and whether another follows; beyond the deepest page, search or filter.

    By the name of its class Unfold's header knows that there is no number of results to show.
    """

    template_name = "admin/uncounted_pagination.html"

    def __init__(self, rows: "QuerySet[Any]", per_page: int, *, page: int = 1) -> None:
        super().__init__(rows, per_page)
        self.rows = rows
        self.page_asked_for = min(max(page, 1), DEEPEST_PAGE)

    @cached_property
    def count(self) -> int:
        before = (self.page_asked_for - 1) * self.per_page
        more = 0 if self.page_asked_for == DEEPEST_PAGE else 1
        return before + len(self.rows.values_list("pk")[before : before + self.per_page + more])

    @property
    def has_more(self) -> bool:
        return self.count > self.page_asked_for * self.per_page


class LiteralSearch:
    """Quotes alone are what is looked for: Django would look for what stands between them, which every row holds."""

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        found: tuple[Any, bool] = super().get_search_results(request, queryset, literal(search_term))  # type: ignore[misc]
        return found


class ReadOnlyAdmin[Row: Model](LiteralSearch, ModelAdmin):
    """Rows that only the program writes."""

    actions = None
    list_per_page = 50
    list_max_show_all = 0
    list_disable_select_all = True
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    list_before_template: Any = None
    when_empty = ""
    """What to do where there is nothing yet."""
    change_form_after_template: Any = None
    change_form_outer_after_template: Any = None
    actions_detail: Any = ()

    def get_paginator(self, request: HttpRequest, queryset: "QuerySet[Row]", per_page: int, *_: Any, **__: Any) -> Any:
        page = request.GET.get("p", "1")
        is_number = page.isascii() and page.isdigit() and len(page) < LONGEST_NUMBER
        return InfinitePaginator(queryset, per_page, page=int(page) if is_number else 1)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """By filters of the list only: by any field of a row a secret could be guessed, letter by letter."""
        filters = self.get_list_filter(request)
        named = {each.parameter_name for each in filters if isinstance(each, type)}  # type: ignore[attr-defined]
        fields = {each[0] for each in filters if isinstance(each, tuple)}
        name = lookup.partition("__")[0]
        if lookup in named or name in fields:
            return bool(super().lookup_allowed(lookup, value, request))
        try:
            self.opts.get_field(name)
        except FieldDoesNotExist:
            return bool(super().lookup_allowed(lookup, value, request))
        return False

    def response_action(self, request: Any, queryset: "QuerySet[Row]", *rest: Any, **named: Any) -> Any:
        """What was ticked, at most a page: never all that a list has, which nobody can have read."""
        posted = request.POST.copy()
        posted["select_across"] = "0"
        ticked = [each for each in posted.getlist(ACTION_CHECKBOX_NAME) if self.can_be_key(each)]
        posted.setlist(ACTION_CHECKBOX_NAME, ticked)
        request.POST = posted
        return super().response_action(request, queryset, *rest, **named)

    def can_be_key(self, text: str) -> bool:
        try:
            self.opts.pk.to_python(text)
        except ValidationError:
            return False
        return "\x00" not in text

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return False


class MomentRangeFilter(RangeDateTimeFilter):
    """Moments in UTC; a date alone is from its beginning, or to its end."""

    def queryset(self, request: HttpRequest, queryset: "QuerySet[Any]") -> "QuerySet[Any]":
        bounds = {"gte": self.moment("from", time.min), "lte": self.moment("to", time.max)}
        return queryset.filter(**{f"{self.field_path}__{end}": at for end, at in bounds.items() if at})

    def moment(self, end: str, otherwise: time) -> datetime | None:
        """None for what is left out, or no date."""
        day, hour = (str(self.used_parameters.get(f"{self.field_path}_{end}_{part}") or "").strip() for part in (0, 1))
        try:
            at = datetime.fromisoformat(f"{day} {hour or otherwise.isoformat()}")
        except ValueError:
            return None
        return at.replace(tzinfo=UTC)


def account_link(account_id: UUID, text: object = "") -> SafeString | str:
    """A link where the accounts' pages are installed: this floor does not know them.

    A long email is cut, for it would push all columns beside it off the screen; hovering shows it.
    """
    whole = str(text or account_id)
    try:
        url = reverse("admin:accounts_account_change", args=[account_id])
    except NoReverseMatch:
        return whole
    return format_html(ACCOUNT, url, whole, shortened(whole, LONGEST_ACCOUNT))


def of_account(term: str) -> Q:
    """Rows with an `account` whose id this is, or whose email begins so."""
    try:
        return Q(account_id=UUID(term))
    except ValueError:
        return Q(account__email__startswith=term.lower())


def literal(term: str) -> str:
    """As it is where there is a word in it, else in quotes that Django takes off again."""
    if any(each.isalnum() for each in term):
        return term
    escaped = term.strip().replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if escaped else ""


def shortened(text: str, length: int = 40) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def when(moment: datetime | None) -> str | None:
    """UTC, to the millisecond."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}" if moment else None


def second(moment: datetime | None) -> str:
    """UTC, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}" if moment else "-"


def ago(seconds: float) -> str:
    """A duration in its two largest units: 2 d 4 h, 3 min 20 s, 4.2 s, 17 ms."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = timedelta(seconds=int(seconds))
    hours, rest = divmod(whole.seconds, 3600)
    minutes, left = divmod(rest, 60)
    if whole.days:
        return f"{whole.days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {left} s"
