"""Workflows and their steps as operators see them: what there is and when it came, never the state itself."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import admin
from django.db.models import Max, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import DropdownFilter, TextFilter
from unfold.decorators import display

from accounts.models import Account
from checkpoints import archive_admin  # noqa: F401 (registers the archive's pages)
from checkpoints.content import etag
from checkpoints.models import Checkpoint, Workflow, WorkflowStatus
from snapstate_project.common.admin import LINK, WRAPPED, ReadOnlyAdmin, account_link, ago, second, shortened, when

STEPS_A_PAGE = 100
STEP_TITLES = ("Step", "Since previous", "Label", "Agent", "Status", "Size", "Saved at (UTC)", "Etag")
LOOKED_AT_MOST = 100_000
NEVER = datetime(1, 1, 1, tzinfo=UTC)
NARROW = '<span style="display: inline-block; min-width: 10rem; overflow-wrap: anywhere">{}</span>'
UNBROKEN = '<span class="whitespace-nowrap">{}</span>'
COLOURS = {"active": "info", "stalled": "warning", "completed": "success", "failed": "danger"}


class AccountFilter(TextFilter):
    title = "account: email or id"
    parameter_name = "account"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Workflow]) -> QuerySet[Workflow]:
        return queryset.filter(account=account_named(self.value())) if self.value() else queryset


class AgentFilter(TextFilter):
    title = "agent"
    parameter_name = "agent"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Workflow]) -> QuerySet[Workflow]:
        return of_every_account(queryset).filter(agent_id=self.value()) if self.value() else queryset


class LabelFilter(TextFilter):
    title = "label"
    parameter_name = "label"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Workflow]) -> QuerySet[Workflow]:
        return looked_at(request, queryset).filter(label=self.value()) if self.value() else queryset


class StatusFilter(DropdownFilter):
    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in COLOURS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Workflow]) -> QuerySet[Workflow]:
        if self.value() not in COLOURS:
            return queryset
        found = looked_at(request, queryset)
        if self.value() == "stalled":
            return found.filter(status=WorkflowStatus.ACTIVE, last_activity_at__lt=stalled_since())
        return found.filter(status=self.value())


@admin.register(Workflow)
class WorkflowAdmin(ReadOnlyAdmin[Workflow]):
    list_display = ("name", "state", "who", "step", "checkpoints", "size", "last_activity")
    list_display_links = ("name",)
    list_select_related = ("account",)
    list_filter = (AccountFilter, StatusFilter, AgentFilter, LabelFilter)
    list_filter_submit = True
    list_before_template = "admin/checkpoints/order.html"
    search_fields = ("workflow_id",)
    search_help_text = "How a workflow id begins, or an account"
    sortable_by = ()
    change_form_after_template = "admin/checkpoints/steps.html"
    fields = ("whole_name", "account_email", "state", "head", "label_shown", "contents", "activity", "expiry", "events")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workflow]:
        """Without the rows that only remember an erased workflow's generation."""
        found: QuerySet[Workflow] = super().get_queryset(request)
        return found.filter(head_step__isnull=False)

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """What an index serves: newest activity within an account, newest workflow over all of them."""
        return ("-last_activity_at", "-id") if account_asked_for(request) else ("-id",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Workflow], search_term: str
    ) -> tuple[QuerySet[Workflow], bool]:
        if not search_term:
            return queryset, False
        if account_id := account_named(search_term):
            return queryset.filter(account_id=account_id), False
        return of_every_account(queryset).filter(workflow_id__startswith=search_term), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        of_one = {"of_one_account": account_asked_for(request) is not None, "looked_at": f"{LOOKED_AT_MOST:,}"}
        return super().changelist_view(request, {**(extra_context or {}), **of_one})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().change_view(
            request, object_id, form_url, {**(extra_context or {}), **steps_of(request, object_id)}
        )

    @display(description="Workflow")
    def name(self, workflow: Workflow) -> SafeString:
        return format_html(NARROW, shortened(workflow.workflow_id))

    @display(description="Status", label=COLOURS)
    def state(self, workflow: Workflow) -> str:
        is_stalled = workflow.status == WorkflowStatus.ACTIVE and (workflow.last_activity_at or NEVER) < stalled_since()
        return "stalled" if is_stalled else workflow.status

    @display(description="Account")
    def who(self, workflow: Workflow) -> SafeString | str:
        return account_link(workflow.account_id, shortened(workflow.account.email, 32))

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
        etag = etag_of(workflow.generation, workflow.head_sequence or 0, workflow.head_digest)
        return format_html(WRAPPED, f"step {workflow.head_step}{by}, etag {etag}")

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
        asked_for = f" (TTL of {ago(workflow.ttl_seconds)} asked for)" if workflow.ttl_seconds else ""
        return "never: pinned" if workflow.pinned else f"{second(workflow.expires_at)}{asked_for}"

    @display(description="Digest")
    def events(self, workflow: Workflow) -> SafeString:
        digest = bytes(workflow.digest).hex()
        url = f"{reverse('admin:events_event_changelist')}?{urlencode({'q': digest})}"
        return format_html("{} ({})", digest, format_html(LINK, url, "its events"))


def steps_of(request: HttpRequest, workflow_pk: str) -> dict[str, Any]:
    """A page of a workflow's steps, newest first, from `before` downwards."""
    workflow = Workflow.objects.filter(pk=workflow_pk).first() if workflow_pk.isdecimal() else None
    if workflow is None:
        return {}
    found = Checkpoint.objects.filter(workflow=workflow, generation=workflow.generation).defer("body").order_by("-step")
    before = request.GET.get("before", "")
    page = list((found.filter(step__lt=int(before)) if before.isdecimal() else found)[: STEPS_A_PAGE + 1])
    return {
        "step_titles": STEP_TITLES,
        "steps": [row_of(step, previous) for step, previous in pairwise([*page, None]) if step][:STEPS_A_PAGE],
        "older": page[STEPS_A_PAGE - 1].step if len(page) > STEPS_A_PAGE else None,
        "is_first_page": not before,
        "missing": 0 if before or len(page) > STEPS_A_PAGE else workflow.total_checkpoints - len(page),
    }


def row_of(step: Checkpoint, previous: Checkpoint | None) -> dict[str, Any]:
    since = (step.created_at - previous.created_at).total_seconds() if previous else None
    return {
        "checkpoint": step,
        "colour": COLOURS[step.status],
        "at": when(step.created_at),
        "since_previous": None if since is None else f"{'-' if since < 0 else ''}{ago(abs(since))}",
        "etag": etag_of(step.generation, step.sequence, step.digest),
    }


def etag_of(generation: int, sequence: int, digest: Any) -> str:
    return etag(generation, sequence, bytes(digest or b"").hex())


def account_asked_for(request: HttpRequest) -> UUID | None:
    return account_named(request.GET.get("account") or request.GET.get("q") or "")


def account_named(text: str | None) -> UUID | None:
    """The account with this id or email."""
    try:
        return UUID(text or "")
    except ValueError:
        return Account.objects.filter(email=(text or "").strip().lower()).values_list("pk", flat=True).first()


def of_every_account(workflows: QuerySet[Workflow]) -> QuerySet[Workflow]:
    """The same rows, asked for account by account: every index of workflows begins with the account."""
    return workflows.filter(account_id__in=Account.objects.order_by().values("pk"))


def looked_at(request: HttpRequest, workflows: QuerySet[Workflow]) -> QuerySet[Workflow]:
    """All of an account's workflows, or the newest of everybody's: no index finds those."""
    if account_asked_for(request):
        return workflows
    newest = Workflow.objects.aggregate(newest=Max("id"))["newest"] or 0
    return workflows.filter(id__gt=newest - LOOKED_AT_MOST)


def stalled_since() -> datetime:
    return timezone.now() - timedelta(seconds=settings.STALLED_AFTER_SECONDS)
