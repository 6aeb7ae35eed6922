"""Usage by month and by day, what was held and what was warned of, as operators see it: read only."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.defaultfilters import filesizeformat
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import RangeDateFilter
from unfold.decorators import display
from unfold.views import ChangeList

from accounts.models import Account
from billing import plans, statements, stripe_admin, stripe_client  # noqa: F401 (registers its pages)
from billing.agreement import unequal_months
from billing.models import QuotaWarning, StorageSample, Usage, UsageDay, UsageRecord
from billing.periods import month_of
from billing.usage import figures_of
from snapstate_project.common.admin import ReadOnlyAdmin, account_link, when

COLUMNS = ("writes", "resumes", "replays", "written")


class OfAccounts[Row: Model](ReadOnlyAdmin[Row]):
    search_fields = ("account__email",)
    search_help_text = "Account id, or how its email begins"
    list_select_related = ("account",)
    list_filter_submit = True
    when_empty = "Metered from events, a moment after each call; storage is sampled once a day."

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Row], search_term: str
    ) -> tuple[QuerySet[Row], bool]:
        term = search_term.strip()
        return (queryset.filter(account_named(term)) if term else queryset), False

    @display(description="Account")
    def who(self, row: Any) -> SafeString | str:
        return account_link(row.account_id, row.account)


def account_named(term: str) -> Q:
    try:
        return Q(account_id=UUID(term))
    except ValueError:
        return Q(account__email__startswith=term.lower())


class UsageAdmin[Row: Usage](OfAccounts[Row]):
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


class MonthsList(ChangeList):
    """The rows of a page with their figures: one query for all of them."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        for record, figures in zip(self.result_list, figures_of(self.result_list, now=timezone.now()), strict=True):
            record.figures = figures


@admin.register(UsageRecord)
class UsageRecordAdmin(UsageAdmin[UsageRecord]):
    list_display = ("of", "who", *COLUMNS, "held", "estimate")
    list_filter = (("month", RangeDateFilter),)
    ordering = ("-month", "-id")
    fields = readonly_fields = ("of", "who", *COLUMNS, "statement")

    list_before_template: Any = "admin/billing/agreement.html"

    def get_list_display(self, request: HttpRequest) -> tuple[str, ...]:
        return self.list_display if sees_money(request) else tuple(n for n in self.list_display if n != "estimate")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return self.fields if sees_money(request) else tuple(n for n in self.fields if n != "statement")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return MonthsList

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "unequal": shown_unequal()})

    @display(description="Month", ordering="month")
    def of(self, usage: UsageRecord) -> str:
        return str(usage)

    @display(description="Storage, mean")
    def held(self, usage: Any) -> str:
        return f"{usage.figures['storage_gb']:,.3f} GB"

    @display(description="Estimate")
    def estimate(self, usage: Any) -> str:
        return plans.dollars(plans.charge(usage.figures))

    @display(description="Statement")
    def statement(self, usage: UsageRecord) -> SafeString:
        lines = [
            {
                "name": plans.LABELS[line.meter],
                "used": amount(line.meter, line.used),
                "billable": amount(line.meter, line.billable),
                "charge": f"${line.charge:,.4f}",
                "owed": f"{line.told.owed:,}",
                "counted": f"{line.told.counted:,}",
                "told": line.told,
            }
            for line in statements.statement_of(usage, now=timezone.now())
        ]
        context = {"lines": lines, "stripe": stripe_client.is_on()}
        return SafeString(render_to_string("admin/billing/statement.html", context))


def sees_money(request: HttpRequest) -> bool:
    return bool(request.user.has_perm("accounts.view_revenue"))


def shown_unequal() -> list[dict[str, Any]]:
    this = month_of(timezone.now())[0]
    months = [this.date(), month_of(this - timedelta(days=1))[0].date()]
    found = unequal_months(months)
    emails = Account.objects.in_bulk({each.account_id for each in found})
    return [
        {
            "account": account_link(each.account_id, emails[each.account_id]),
            "month": each.month,
            "figures": [f"{figure:,}" for figure in each[2:]],
        }
        for each in found
    ]


def amount(meter: str, units: Any) -> str:
    return f"{units:,.6f}" if meter == "storage_gb" else f"{units:,}"


@admin.register(UsageDay)
class UsageDayAdmin(UsageAdmin[UsageDay]):
    list_display = ("of", "who", *COLUMNS)
    list_filter = (("day", RangeDateFilter),)
    ordering = ("-day", "-id")
    fields = readonly_fields = list_display

    @display(description="Day (UTC)", ordering="day")
    def of(self, usage: UsageDay) -> str:
        return str(usage)


@admin.register(StorageSample)
class StorageSampleAdmin(OfAccounts[StorageSample]):
    list_display = ("of", "who", "held")
    list_filter = (("day", RangeDateFilter),)
    ordering = ("-day", "-id")
    fields = readonly_fields = list_display

    @display(description="Day (UTC)", ordering="day")
    def of(self, sample: StorageSample) -> str:
        return str(sample)

    @display(description="Held, compressed", ordering="bytes")
    def held(self, sample: StorageSample) -> str:
        return filesizeformat(sample.bytes)


@admin.register(QuotaWarning)
class QuotaWarningAdmin(OfAccounts[QuotaWarning]):
    list_display = ("noticed", "who", "of", "meter_is", "reached", "units")
    list_filter = (("month", RangeDateFilter),)
    ordering = ("-at", "-id")
    fields = readonly_fields = list_display

    @display(description="Noticed at (UTC)")
    def noticed(self, warning: QuotaWarning) -> str | None:
        return when(warning.at)

    @display(description="Month", ordering="month")
    def of(self, warning: QuotaWarning) -> str:
        return f"{warning.month:%B %Y}"

    @display(description="Meter", ordering="meter")
    def meter_is(self, warning: QuotaWarning) -> str:
        return plans.LABELS[warning.meter]

    @display(description="Of what is free", label={"80 %": "warning", "100 %": "danger"})
    def reached(self, warning: QuotaWarning) -> str:
        return f"{warning.threshold} %"

    @display(description="Used by then")
    def units(self, warning: QuotaWarning) -> str:
        return amount(warning.meter, warning.used if warning.meter == "storage_gb" else int(warning.used))
