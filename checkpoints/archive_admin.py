"""The archive as operators see it: segments that stand there, and workflows that could not be moved."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, Min, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import action, display
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm

from checkpoints.models import ArchiveProblem, ArchiveSegment, Workflow
from checkpoints.problems import retry_now
from snapstate_project.common.admin import LINK, WRAPPED, ReadOnlyAdmin, ago, go_to, second, shortened


def overview() -> dict[str, Any]:
    """What waits for the archive; bounded by its index."""
    due = Workflow.objects.filter(archive_at__lte=timezone.now()).aggregate(count=Count("id"), oldest=Min("archive_at"))
    oldest = due["oldest"]
    return {
        "due": due["count"],
        "late": ago((timezone.now() - oldest).total_seconds()) if oldest else None,
        "problems": ArchiveProblem.objects.count(),
    }


class OfWorkflow[Row: (ArchiveSegment, ArchiveProblem)](ReadOnlyAdmin[Row]):
    list_before_template = "admin/checkpoints/archive_overview.html"
    list_select_related = ("workflow__account",)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "archive": overview()})

    @display(description="Workflow")
    def of(self, row: Row) -> SafeString:
        url = reverse("admin:checkpoints_workflow_change", args=[row.workflow_id])
        return format_html(LINK, url, shortened(str(row.workflow)))

    @display(description="Account")
    def who(self, row: Row) -> str:
        return shortened(row.workflow.account.email, 32)


@admin.register(ArchiveSegment)
class SegmentAdmin(OfWorkflow[ArchiveSegment]):
    list_display = ("of", "who", "steps_in_it", "count", "size", "moved")
    list_display_links = ("moved",)
    fields = ("of", "who", "whole_key", "generation", "steps_in_it", "count", "size", "sha", "moved")
    readonly_fields = fields
    ordering = ("-id",)
    when_empty = (
        "Workflows come here when their TTL ends, by default a week after their last save, or when you archive one."
    )
    search_fields = ("=workflow__workflow_id", "=key")
    search_help_text = "A workflow's id, or an object's key."

    @display(description="Steps")
    def steps_in_it(self, row: ArchiveSegment) -> str:
        return f"{row.first_step:,} to {row.last_step:,}"

    @display(description="Size")
    def size(self, row: ArchiveSegment) -> str:
        times = row.raw_bytes / max(row.stored_bytes, 1)
        return f"{filesizeformat(row.stored_bytes)}, {times:.0f} times smaller than its states"

    @display(description="Archived at (UTC)")
    def moved(self, row: ArchiveSegment) -> str:
        return second(row.created_at)

    @display(description="Object")
    def whole_key(self, row: ArchiveSegment) -> SafeString:
        return format_html(WRAPPED, row.key)

    @display(description="SHA-256")
    def sha(self, row: ArchiveSegment) -> SafeString:
        return format_html(WRAPPED, bytes(row.sha256).hex())


@admin.register(ArchiveProblem)
class ProblemAdmin(OfWorkflow[ArchiveProblem]):
    list_display = ("of", "who", "short_reason", "attempts", "since", "last", "again")
    list_display_links = ("short_reason",)
    fields = ("of", "who", "whole_reason", "attempts", "since", "last", "again")
    readonly_fields = fields
    ordering = ("-last_at",)
    when_empty = "Everything that was due has been moved: there is nothing to do here."
    actions_detail: Any = ("retry",)
    actions_list: Any = ("retry_all",)

    def has_retry_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm("checkpoints.retry_archiving")

    @action(
        description="Try again now",
        permissions=["retry"],
        icon="refresh",
        variant=ActionVariant.PRIMARY,
        dialog={"title": "Try this workflow again now?", "form_class": BaseDialogForm, "form_submit_text": "Try again"},
    )
    def retry(self, request: HttpRequest, form: BaseDialogForm, object_id: str) -> HttpResponse:
        return self._retry(request, ArchiveProblem.objects.filter(pk=object_id))

    @action(
        description="Try all again now",
        permissions=["retry"],
        icon="refresh",
        variant=ActionVariant.PRIMARY,
        dialog={"title": "Try every workflow again now?", "form_class": BaseDialogForm, "form_submit_text": "Try all"},
    )
    def retry_all(self, request: HttpRequest, form: BaseDialogForm) -> HttpResponse:
        return self._retry(request, ArchiveProblem.objects.all())

    def _retry(self, request: HttpRequest, problems: QuerySet[ArchiveProblem]) -> HttpResponse:
        """One entry in the log, at the first of them, says of how many it was."""
        with transaction.atomic():
            count, first = retry_now(problems), problems.order_by("pk").first()
            if first is not None:
                self.log_change(request, first, f"Asked to try again now: {count:,} due at once.")
        messages.success(request, f"{count:,} due at once: the next pass, within a minute, tries again.")
        return go_to(request, reverse("admin:checkpoints_archiveproblem_changelist"))

    @display(description="Reason")
    def short_reason(self, row: ArchiveProblem) -> str:
        return shortened(row.reason, 60)

    @display(description="Reason")
    def whole_reason(self, row: ArchiveProblem) -> SafeString:
        return format_html(WRAPPED, row.reason)

    @display(description="Since (UTC)")
    def since(self, row: ArchiveProblem) -> str:
        return second(row.first_at)

    @display(description="Last try (UTC)")
    def last(self, row: ArchiveProblem) -> str:
        return second(row.last_at)

    @display(description="Next try (UTC)")
    def again(self, row: ArchiveProblem) -> str:
        return second(row.workflow.archive_at)
