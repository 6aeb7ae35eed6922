"""Events and their subscribers as operators see them: who is behind, who fails at what, and the way past it."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.db.models import Max, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import action, display
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm

from snapstate_project.common.admin import LINK, WRAPPED, ReadOnlyAdmin, account_link, ago, go_to, shortened, when
from snapstate_project.common.errors import RedisDown
from snapstate_project.events import queue, relay, services
from snapstate_project.events.catalogue import CATALOGUE
from snapstate_project.events.models import DIGEST, Event, SubscriberCursor

FILTERED_AT_MOST = 1_000_000
INTAKE_BEHIND_SECONDS = 2.0
COLOURS = {
    "checkpoint.saved": "primary",
    "workflow.resumed": "info",
    "workflow.replayed": "info",
    "workflow.completed": "success",
    "workflow.failed": "danger",
    "workflow.erased": "warning",
    "quota.exceeded": "warning",
}


PREFORMATTED = '<pre style="white-space: pre-wrap; overflow-wrap: anywhere">{}</pre>'


class SkipForm(BaseDialogForm):
    """Names the event that the operator has seen, so that no other one is skipped."""

    form_before_template = "admin/events/skip.html"
    event_id = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, request: HttpRequest, object_id: str, **kwargs: Any) -> None:
        self.cursor = SubscriberCursor.objects.filter(pk=object_id).first()
        self.failing_event_id = self.cursor.failing_event_id if self.cursor else None
        super().__init__(request, object_id, initial={"event_id": self.failing_event_id}, **kwargs)

    def get_before_template_context(self, request: HttpRequest, object_id: int | str | None = None) -> dict[str, Any]:
        return {"cursor": self.cursor, "event": Event.objects.filter(id=self.failing_event_id or 0).first()}


class TypeFilter(DropdownFilter):
    title = "type"
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in CATALOGUE]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Event]) -> QuerySet[Event]:
        """Among the newest only: no index serves the type, and a rare one must not cost a scan of thirty days."""
        if self.value() not in CATALOGUE:
            return queryset
        newest = Event.objects.aggregate(newest=Max("id"))["newest"] or 0
        return queryset.filter(type=self.value(), id__gt=newest - FILTERED_AT_MOST)


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin[Event]):
    list_display = ("number", "happened_at", "kind", "account_short", "workflow", "step")
    list_filter = (TypeFilter,)
    search_fields = ("id",)
    search_help_text = "Account id, workflow digest or number"
    ordering = ("-id",)
    when_empty = "Each save makes one as soon as intake has taken it. Does the intake process run? See under System."
    fields = ("number", "kind", "happened_at", "account", "workflow_is", "content")
    readonly_fields = fields
    list_before_template = "admin/events/overview.html"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Event], search_term: str
    ) -> tuple[QuerySet[Event], bool]:
        return (matching(queryset, search_term.strip().lower()) if search_term.strip() else queryset), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), **overview()})

    @display(description="Number", ordering="id")
    def number(self, event: Event) -> str:
        return str(event.pk)

    @display(description="Happened at (UTC)")
    def happened_at(self, event: Event) -> str | None:
        return when(event.at)

    @display(description="Type", label=COLOURS)
    def kind(self, event: Event) -> str:
        return event.type

    @display(description="Account")
    def account(self, event: Event) -> SafeString | str:
        return account_link(event.account_id)

    @display(description="Account")
    def account_short(self, event: Event) -> SafeString | str:
        return account_link(event.account_id, shortened(str(event.account_id), 9))

    @display(description="Workflow")
    def workflow(self, event: Event) -> str | None:
        return shortened(event.workflow) or None

    @display(description="Step")
    def step(self, event: Event) -> Any:
        return event.fields.get("step")

    @display(description="Workflow")
    def workflow_is(self, event: Event) -> SafeString:
        return format_html(WRAPPED, event.workflow or "-")

    @display(description="Content")
    def content(self, event: Event) -> SafeString:
        return SafeString(render_to_string("admin/events/content.html", {"fields": event.fields}))


@admin.register(SubscriberCursor)
class SubscriberAdmin(ReadOnlyAdmin[SubscriberCursor]):
    list_display = ("name", "state", "behind", "position", "fails_at", "error")
    ordering = ("name",)
    when_empty = "None has begun yet. Start the intake process: manage.py intake."
    fields = ("name", "state", "behind", "position", "fails_at", "failing", "whole_error", "moved_at")
    readonly_fields = fields
    list_before_template = "admin/events/overview.html"
    actions_detail = ("skip",)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), **overview()})

    def has_skip_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """A method, for Unfold looks a permission's name up in the database, even before that is migrated."""
        return request.user.has_perm("events.skip_event")

    def get_actions_detail(self, request: HttpRequest, object_id: int | str) -> list[Any]:
        """There is nothing to skip while nothing fails."""
        fails = SubscriberCursor.objects.filter(pk=object_id, failing_event_id__isnull=False).exists()
        return super().get_actions_detail(request, object_id) if fails else []

    @action(
        description="Skip the failing event",
        permissions=["skip"],
        icon="skip_next",
        variant=ActionVariant.DANGER,
        dialog={"title": "Skip this event?", "form_class": SkipForm, "form_submit_text": "Skip it"},
    )
    def skip(self, request: HttpRequest, form: SkipForm, object_id: str) -> HttpResponse:
        event_id = form.cleaned_data["event_id"]
        if services.skip_event(object_id, event_id):
            self.log_change(request, SubscriberCursor.objects.get(pk=object_id), f"Skipped event {event_id}.")
            messages.success(request, f"“{object_id}” goes on after event {event_id}.")
        else:
            messages.warning(request, f"“{object_id}” no longer fails at event {event_id}: nothing was skipped.")
        return go_to(request, reverse("admin:events_subscribercursor_changelist"))

    @display(description="State", label={"OK": "success", "Behind": "warning", "Failing": "danger"})
    def state(self, cursor: SubscriberCursor) -> str:
        if cursor.name not in relay.subscribers:
            return "Retired"
        if cursor.failing_event_id:
            return "Failing"
        return "Behind" if services.lag_of(cursor).is_alert else "OK"

    @display(description="Behind by")
    def behind(self, cursor: SubscriberCursor) -> str:
        return said(services.lag_of(cursor))

    @display(description="Fails at event")
    def fails_at(self, cursor: SubscriberCursor) -> SafeString | None:
        number = cursor.failing_event_id
        return format_html(LINK, reverse("admin:events_event_change", args=[number]), number) if number else None

    @display(description="Failing since (UTC)")
    def failing(self, cursor: SubscriberCursor) -> str | None:
        since = when(cursor.failing_since)
        return f"{since}, tried {cursor.failures} times" if since else None

    @display(description="Last changed (UTC)")
    def moved_at(self, cursor: SubscriberCursor) -> str | None:
        return when(cursor.updated_at)

    @display(description="Error")
    def error(self, cursor: SubscriberCursor) -> str | None:
        return shortened(cursor.failing_error, 80) or None

    @display(description="Error")
    def whole_error(self, cursor: SubscriberCursor) -> SafeString | None:
        return format_html(PREFORMATTED, cursor.failing_error) if cursor.failing_error else None


def overview() -> dict[str, Any]:
    """What stands on top of both lists."""
    cursors = list(SubscriberCursor.objects.filter(name__in=relay.subscribers))
    lags = [services.lag_of(cursor) for cursor in cursors]
    failing = [cursor.name for cursor in cursors if cursor.failing_event_id]
    slowest = max(lags, key=lambda lag: lag.seconds, default=services.Lag(0, 0.0))
    return {"intake": intake_state(), "failing": failing, "slowest": slowest, "slowest_said": said(slowest)}


def intake_state() -> dict[str, Any]:
    """Colour and words for the age of the oldest entry that intake has not taken."""
    try:
        seconds = queue.lag_seconds()
    except RedisDown as down:
        return {"level": "danger", "text": "Unknown", "note": down.message}
    if seconds > INTAKE_BEHIND_SECONDS:
        return {"level": "danger", "text": f"{ago(seconds)} behind", "note": "Is the intake process running?"}
    return {"level": "success", "text": "Up to date", "note": f"The oldest save not yet in Postgres: {ago(seconds)}"}


def said(lag: services.Lag) -> str:
    if not lag.events:
        return "nothing"
    count = f"{lag.events:,}" if lag.events <= services.COUNTED_AT_MOST else f"over {services.COUNTED_AT_MOST:,}"
    return f"{count} event{'' if lag.events == 1 else 's'}, {ago(lag.seconds)}"


def matching(events: QuerySet[Event], term: str) -> QuerySet[Event]:
    """A number names one event; 32 hex digits an account or a workflow's digest, both indexed."""
    if term.isascii() and term.isdigit() and len(term) < 19:
        return events.filter(pk=int(term))
    try:
        account_id = UUID(term)
    except ValueError:
        return events.none()
    return events.alias(digest=DIGEST).filter(Q(account_id=account_id) | Q(digest=account_id.hex))
