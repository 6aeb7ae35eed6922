"""Statistics of workflows, and what failed, as operators see them: read only."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import DropdownFilter, TextFilter
from unfold.decorators import display

from analytics.models import WorkflowAgent, WorkflowError, WorkflowResumes, WorkflowStats, stalled_before
from snapstate_project.common.admin import (
    LINK,
    WRAPPED,
    MomentRangeFilter,
    ReadOnlyAdmin,
    account_link,
    ago,
    of_account,
    second,
    shortened,
)

UNBROKEN = '<span class="whitespace-nowrap">{}</span>'
NARROW = '<span style="display: inline-block; min-width: 10rem; overflow-wrap: anywhere">{}</span>'
WRAPPED_LINK = '<a href="{}" class="text-primary-600 dark:text-primary-500">{}</a>'
COLOURS = {"active": "info", "stalled": "warning", "completed": "success", "failed": "danger"}
AGENTS_SHOWN = 50


class StatusFilter(DropdownFilter):
    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in COLOURS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[WorkflowStats]) -> QuerySet[WorkflowStats]:
        if self.value() not in COLOURS:
            return queryset
        is_idle = Q(status="active", last_checkpoint_at__lt=stalled_before(timezone.now()))
        return queryset.filter(is_idle if self.value() == "stalled" else Q(status=self.value()))


class AgentFilter(TextFilter):
    title = "agent"
    parameter_name = "agent"

    def queryset(self, request: HttpRequest, queryset: QuerySet[WorkflowError]) -> QuerySet[WorkflowError]:
        return queryset.filter(agent_id=self.value()) if self.value() else queryset


class TypeFilter(TextFilter):
    title = "type"
    parameter_name = "type"

    def queryset(self, request: HttpRequest, queryset: QuerySet[WorkflowError]) -> QuerySet[WorkflowError]:
        return queryset.filter(error_type=self.value()) if self.value() else queryset


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@admin.register(WorkflowStats)
class WorkflowStatsAdmin(ReadOnlyAdmin[WorkflowStats]):
    list_display = ("name", "state", "who", "steps", "size", "lasted", "last_save")
    list_select_related = ("account",)
    list_filter = (StatusFilter,)
    search_fields = ("workflow_id",)
    search_help_text = "Workflow id, account id, or how an account's email begins"
    ordering = ("-id",)
    sortable_by = ()
    when_empty = "Counted from events, a moment after each save. Is there work, but nothing here? See under System."
    fields = ("whole_name", "who", "state", "contents", "saves", "resumed", "agents", "errors")
    readonly_fields = fields

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[WorkflowStats], search_term: str
    ) -> tuple[QuerySet[WorkflowStats], bool]:
        term = search_term.strip()
        return (queryset.filter(of_account(term) | Q(workflow_id=term)) if term else queryset), False

    @display(description="Workflow")
    def name(self, stats: WorkflowStats) -> SafeString:
        return format_html(NARROW, shortened(stats.workflow_id) or "(no id)")

    @display(description="Status", label=COLOURS)
    def state(self, stats: WorkflowStats) -> str:
        return stats.status_at(timezone.now())

    @display(description="Account")
    def who(self, stats: WorkflowStats) -> SafeString | str:
        return account_link(stats.account_id, stats.account)

    @display(description="Steps")
    def steps(self, stats: WorkflowStats) -> str:
        return f"{stats.total_steps:,}"

    @display(description="Size")
    def size(self, stats: WorkflowStats) -> str:
        return filesizeformat(stats.total_size_bytes)

    @display(description="Duration")
    def lasted(self, stats: WorkflowStats) -> str:
        return ago(stats.duration.total_seconds())

    @display(description="Last save (UTC)")
    def last_save(self, stats: WorkflowStats) -> SafeString:
        return format_html(UNBROKEN, second(stats.last_checkpoint_at))

    # --- On its own page ---

    @display(description="Workflow")
    def whole_name(self, stats: WorkflowStats) -> SafeString:
        return format_html(WRAPPED, stats.workflow_id)

    @display(description="Contents")
    def contents(self, stats: WorkflowStats) -> str:
        return f"{counted(stats.total_steps, 'step')}, {filesizeformat(stats.total_size_bytes)} of states"

    @display(description="Saves (UTC)")
    def saves(self, stats: WorkflowStats) -> str:
        return f"{second(stats.first_checkpoint_at)} to {second(stats.last_checkpoint_at)}, {self.lasted(stats)}"

    @display(description="Resumed")
    def resumed(self, stats: WorkflowStats) -> str:
        days = WorkflowResumes.objects.filter(stats=stats).values_list("count", flat=True)
        return f"{counted(sum(days), 'time')} on {counted(len(days), 'day')}" if days else "never"

    @display(description="Agents")
    def agents(self, stats: WorkflowStats) -> SafeString | None:
        parts = WorkflowAgent.objects.filter(stats=stats).order_by("first_at", "agent_id")[:AGENTS_SHOWN]
        return (
            format_html(WRAPPED, ", ".join(f"{part.agent_id} ({counted(part.steps, 'step')})" for part in parts))
            or None
        )

    @display(description="Errors")
    def errors(self, stats: WorkflowStats) -> SafeString | str:
        count = WorkflowError.objects.filter(stats=stats).count()
        url = f"{reverse('admin:analytics_workflowerror_changelist')}?stats={stats.pk}"
        return format_html(LINK, url, f"{count:,}") if count else "none"


@admin.register(WorkflowError)
class WorkflowErrorAdmin(ReadOnlyAdmin[WorkflowError]):
    list_display = ("at", "kind", "said", "workflow", "step", "agent", "who")
    list_select_related = ("account", "stats")
    list_filter = (AgentFilter, TypeFilter, ("created_at", MomentRangeFilter))
    list_filter_submit = True
    search_fields = ("account",)
    search_help_text = "Account id, or how its email begins"
    ordering = ("-created_at", "-id")
    sortable_by = ()
    when_empty = "Nothing has failed, and no save has told of an error."
    fields = ("at", "who", "workflow", "step", "agent", "whole_kind", "message")
    readonly_fields = fields

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """One workflow's errors, to which the page of its statistics leads."""
        return lookup == "stats" or super().lookup_allowed(lookup, value, request)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[WorkflowError], search_term: str
    ) -> tuple[QuerySet[WorkflowError], bool]:
        term = search_term.strip()
        return (queryset.filter(of_account(term)) if term else queryset), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "title": "What failed"})

    @display(description="At (UTC)")
    def at(self, error: WorkflowError) -> SafeString:
        return format_html(UNBROKEN, second(error.created_at))

    @display(description="Type")
    def kind(self, error: WorkflowError) -> SafeString | None:
        return format_html(NARROW, shortened(error.error_type)) if error.error_type else None

    @display(description="Message")
    def said(self, error: WorkflowError) -> SafeString | None:
        return format_html(NARROW, shortened(error.error_message, 80)) if error.error_message else None

    @display(description="Workflow")
    def workflow(self, error: WorkflowError) -> SafeString:
        url = reverse("admin:analytics_workflowstats_change", args=[error.stats_id])
        name = shortened(error.stats.workflow_id) or "(no id)"
        return format_html(NARROW, format_html(WRAPPED_LINK, url, name))

    @display(description="Agent")
    def agent(self, error: WorkflowError) -> str | None:
        return shortened(error.agent_id, 32) if error.agent_id else None

    @display(description="Account")
    def who(self, error: WorkflowError) -> SafeString | str:
        return account_link(error.account_id, error.account)

    # --- On its own page ---

    @display(description="Type")
    def whole_kind(self, error: WorkflowError) -> SafeString | None:
        return format_html(WRAPPED, error.error_type) if error.error_type else None

    @display(description="Message")
    def message(self, error: WorkflowError) -> SafeString | None:
        return format_html(WRAPPED, error.error_message) if error.error_message else None
