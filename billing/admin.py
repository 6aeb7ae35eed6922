"""Usage by month and by day as operators see it: read only."""

from uuid import UUID

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import RangeDateFilter
from unfold.decorators import display

from billing.models import Usage, UsageDay, UsageRecord
from snapstate_project.common.admin import ReadOnlyAdmin, account_link

COLUMNS = ("writes", "resumes", "replays", "written")


class UsageAdmin[Row: Usage](ReadOnlyAdmin[Row]):
    search_fields = ("account__email",)
    search_help_text = "Account id, or how its email begins"
    list_select_related = ("account",)
    list_filter_submit = True

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Row], search_term: str
    ) -> tuple[QuerySet[Row], bool]:
        term = search_term.strip()
        return (queryset.filter(account_named(term)) if term else queryset), False

    @display(description="Account")
    def who(self, usage: Row) -> SafeString | str:
        return account_link(usage.account_id, usage.account)

    @display(description="Writes", ordering="checkpoint_writes")
    def writes(self, usage: Row) -> str:
        return f"{usage.checkpoint_writes:,}"

    @display(description="Resumes", ordering="resume_calls")
    def resumes(self, usage: Row) -> str:
        return f"{usage.resume_calls:,}"

    @display(description="Replays", ordering="replay_calls")
    def replays(self, usage: Row) -> str:
        return f"{usage.replay_calls:,}"

    @display(description="State written", ordering="storage_bytes_written")
    def written(self, usage: Row) -> str:
        return filesizeformat(usage.storage_bytes_written)


def account_named(term: str) -> Q:
    try:
        return Q(account_id=UUID(term))
    except ValueError:
        return Q(account__email__startswith=term.lower())


@admin.register(UsageRecord)
class UsageRecordAdmin(UsageAdmin[UsageRecord]):
    list_display = ("of", "who", *COLUMNS)
    list_filter = (("month", RangeDateFilter),)
    ordering = ("-month", "-id")
    fields = readonly_fields = list_display

    @display(description="Month", ordering="month")
    def of(self, usage: UsageRecord) -> str:
        return str(usage)


@admin.register(UsageDay)
class UsageDayAdmin(UsageAdmin[UsageDay]):
    list_display = ("of", "who", *COLUMNS)
    list_filter = (("day", RangeDateFilter),)
    ordering = ("-day", "-id")
    fields = readonly_fields = list_display

    @display(description="Day (UTC)", ordering="day")
    def of(self, usage: UsageDay) -> str:
        return str(usage)
