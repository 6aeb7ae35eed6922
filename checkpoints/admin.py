"""Workflows and their steps as operators see them: what there is and when it came; the state itself by permission."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from unfold.decorators import display
from unfold.views import ChangeList

from checkpoints import archive_admin, timeline  # noqa: F401 (registers the archive's pages)
from checkpoints.action_admin import WorkflowActions
from checkpoints.content import etag
from checkpoints.filter_admin import COLOURS, DIGEST, FILTERS, account_named, few, of_every_account, stalled_since
from checkpoints.list_admin import ORDER, STRETCH, WorkflowList
from checkpoints.models import Workflow, WorkflowStatus
from checkpoints.page_admin import WorkflowPages
from snapstate_project.common.admin import WRAPPED, ReadOnlyAdmin, account_link, ago, second, shortened

NEVER = datetime(1, 1, 1, tzinfo=UTC)
NARROW = '<span style="display: inline-block; min-width: 10rem; overflow-wrap: anywhere">{}</span>'
UNBROKEN = '<span class="whitespace-nowrap">{}</span>'


@admin.register(Workflow)
class WorkflowAdmin(WorkflowActions, WorkflowPages, ReadOnlyAdmin[Workflow]):
    list_display = ("name", "state", "tier", "who", "step", "checkpoints", "size", "last_activity")
    list_display_links = ("name",)
    list_select_related = ("account",)
    list_filter = FILTERS
    list_filter_submit = True
    list_before_template = "admin/checkpoints/order.html"
    search_fields = ("workflow_id",)
    search_help_text = "How a workflow id begins, its digest, or an account"
    ordering = ORDER
    sortable_by = ()
    when_empty = (
        "They come with the first POST /checkpoints. Give an account a key under Accounts, and its agents can begin."
    )
    change_form_outer_after_template = "admin/checkpoints/steps.html"
    fields = (
        "whole_name", "account_email", "state", "tier", "head", "label_shown", "contents", "activity", "expiry",
        "events",
    )  # fmt: skip
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workflow]:
        """Without the rows that only remember an erased workflow's generation."""
        found: QuerySet[Workflow] = super().get_queryset(request)
        return found.filter(head_step__isnull=False)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return WorkflowList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Workflow], search_term: str
    ) -> tuple[QuerySet[Workflow], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        request.found_by_index = True  # type: ignore[attr-defined]  # for the list
        if DIGEST.fullmatch(term):  # which an account's id without dashes looks like too
            of_digest = of_every_account(queryset).filter(digest=bytes.fromhex(term))
            return (of_digest if of_digest.exists() else queryset.filter(account_id=UUID(term))), False
        if account_id := account_named(term):
            return queryset.filter(account_id=account_id), False
        begins = Q(workflow_id__startswith=search_term)
        found = few(begins)
        request.found_by_index = found is not None  # type: ignore[attr-defined]
        return queryset.filter(begins if found is None else Q(pk__in=found)), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "stretch": f"{STRETCH:,}"})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        shown = timeline.of(request, object_id)
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    @display(description="Workflow")
    def name(self, workflow: Workflow) -> SafeString:
        return format_html(NARROW, shortened(workflow.workflow_id))

    @display(description="Status", label=COLOURS)
    def state(self, workflow: Workflow) -> str:
        is_stalled = workflow.status == WorkflowStatus.ACTIVE and (workflow.last_activity_at or NEVER) < stalled_since()
        return "stalled" if is_stalled else workflow.status

    @display(description="Tier")
    def tier(self, workflow: Workflow) -> str:
        where = "archive" if workflow.is_cold else "live"
        return f"{where}, pinned" if workflow.pinned else where

    @display(description="Account")
    def who(self, workflow: Workflow) -> SafeString | str:
        return account_link(workflow.account_id, workflow.account)

    @display(description="Step")
    def step(self, workflow: Workflow) -> int | None:
        return workflow.head_step

    @display(description="Checkpoints")
    def checkpoints(self, workflow: Workflow) -> str:
        return f"{workflow.total_checkpoints:,}"

    @display(description="Size")
    def size(self, workflow: Workflow) -> str:
        return filesizeformat(workflow.size_bytes)

    @display(description="Last activity (UTC)")
    def last_activity(self, workflow: Workflow) -> SafeString:
        return format_html(UNBROKEN, second(workflow.last_activity_at))

    # --- On its own page ---

    @display(description="Workflow")
    def whole_name(self, workflow: Workflow) -> SafeString:
        return format_html(WRAPPED, workflow.workflow_id)

    @display(description="Account")
    def account_email(self, workflow: Workflow) -> SafeString | str:
        return account_link(workflow.account_id, workflow.account.email)

    @display(description="Head")
    def head(self, workflow: Workflow) -> SafeString:
        by = f" by {workflow.agent_id}" if workflow.agent_id else ""
        tag = etag(workflow.generation, workflow.head_sequence or 0, bytes(workflow.head_digest or b"").hex())
        return format_html(WRAPPED, f"step {workflow.head_step}{by}, etag {tag}")

    @display(description="Label")
    def label_shown(self, workflow: Workflow) -> SafeString | None:
        return format_html(WRAPPED, workflow.label) if workflow.label else None

    @display(description="Contents")
    def contents(self, workflow: Workflow) -> str:
        size, stored = filesizeformat(workflow.size_bytes), filesizeformat(workflow.stored_bytes)
        kept = f", the last {workflow.keep_last:,} to be kept" if workflow.keep_last else ""
        return f"{workflow.total_checkpoints:,} checkpoints, {size} of states, compressed to {stored}{kept}"

    @display(description="Activity (UTC)")
    def activity(self, workflow: Workflow) -> str:
        return f"{second(workflow.started_at)} to {second(workflow.last_activity_at)}"

    @display(description="Expires (UTC)")
    def expiry(self, workflow: Workflow) -> str:
        if workflow.pinned:
            return "never: pinned"
        if workflow.is_cold:
            return f"in the archive since {second(workflow.evicted_at)}"
        asked_for = f" (TTL of {ago(workflow.ttl_seconds)} asked for)" if workflow.ttl_seconds else ""
        return f"{second(workflow.leaves_at)}{asked_for}"

    @display(description="Digest")
    def events(self, workflow: Workflow) -> SafeString:
        digest = bytes(workflow.digest).hex()
        url = f"{reverse('admin:events_event_changelist')}?{urlencode({'q': digest})}"
        return format_html('{} (<a href="{}" class="underline">its events</a>)', digest, url)
