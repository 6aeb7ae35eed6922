"""What Stripe was told and what it told, as operators see it; they settle what only a person can find out."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Min, Model, OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import AllValuesCheckboxFilter, ChoicesDropdownFilter
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from accounts.admin_pages import back_to, badge, confirmed
from accounts.models import Account
from billing import meter_reports, plans, statements, stripe_client
from billing.models import Invoice, MeterReport, Subscription
from snapstate_project.common.admin import WRAPPED, ReadOnlyAdmin, account_link, second, shortened

STATES = {"waiting": "info", "sent": "success", "doubtful": "danger", "refused": "warning"}
SENDING = {
    "title": "Send again",
    "consequence": "Stripe refused it and has not counted it. With its reason gone, the next pass sends it again.",
    "button": "Send again",
    "done": "To be sent again",
}
SETTLING = {
    "title": "Stripe has counted it",
    "consequence": "Only if you found this identifier at Stripe, or put it right there: it is never sent again.",
    "button": "It is counted",
    "done": "Counted",
}
INVOICE_STATES = {"Draft": "info", "Open": "warning", "Paid": "success", "Uncollectible": "danger"}


@admin.register(MeterReport)
class MeterReportAdmin(ReadOnlyAdmin[MeterReport]):
    list_display = ("of", "who", "meter_is", "counts", "is_in", "attempts", "why")
    list_filter = (("state", ChoicesDropdownFilter), ("meter", AllValuesCheckboxFilter))
    list_filter_submit = True
    list_select_related = ("account",)
    search_fields = ("identifier",)
    search_help_text = "How the identifier begins: the account's id without dashes"
    ordering = ("-month", "-id")
    when_empty = "With STRIPE_SECRET_KEY set, what is beyond the free units is booked here and sent every five minutes."
    fields = (
        "of",
        "who",
        "meter_is",
        "counts",
        "identifier",
        "is_in",
        "attempts",
        "doubtful",
        "sent",
        "booked",
        "whole_why",
    )
    readonly_fields = fields
    list_before_template = "admin/billing/differences.html"
    actions_detail = ("send_again", "mark_counted")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[MeterReport], search_term: str
    ) -> tuple[QuerySet[MeterReport], bool]:
        term = search_term.strip().lower()
        begins = (term.replace("-", "", 4) if term.count("-") == 4 else term) or term
        return (queryset.filter(identifier__startswith=begins) if term else queryset), False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "ledger": ledger(), **shown_differences()})

    def has_settle_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """A method, for Unfold looks a permission's name up in the database, even before that is migrated."""
        return request.user.has_perm("billing.settle_meterreport")

    def get_actions_detail(self, request: HttpRequest, object_id: int | str) -> list[Any]:
        """Only what the report's state leaves to a person."""
        report = self.get_object(request, str(object_id))
        fitting = {MeterReport.State.REFUSED: "send_again", MeterReport.State.DOUBTFUL: "mark_counted"}
        wanted = fitting.get(MeterReport.State(report.state)) if report else None
        found: list[Any] = super().get_actions_detail(request, object_id)
        return [each for each in found if wanted and each.action_name.endswith(wanted)]

    @action(description="Send again", icon="send", permissions=["settle"], variant=ActionVariant.PRIMARY)
    def send_again(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.settle(request, object_id, meter_reports.send_again, SENDING)

    @action(description="Stripe has counted it", icon="check", permissions=["settle"], variant=ActionVariant.PRIMARY)
    def mark_counted(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.settle(request, object_id, meter_reports.mark_counted, SETTLING)

    def settle(self, request: HttpRequest, object_id: str, act: Any, words: dict[str, str]) -> HttpResponse:
        report: MeterReport | None = self.get_object(request, object_id)
        if report is None:
            raise Http404
        return confirmed(self, request, [report], act, back=back_to(self, report), original=report, **words)

    @display(description="Month", ordering="month")
    def of(self, report: MeterReport) -> str:
        return f"{report.month:%B %Y}"

    @display(description="Account")
    def who(self, report: MeterReport) -> SafeString | str:
        return account_link(report.account_id, report.account)

    @display(description="Meter", ordering="meter")
    def meter_is(self, report: MeterReport) -> str:
        return plans.LABELS[report.meter]

    @display(description="Units")
    def counts(self, report: MeterReport) -> str:
        return f"{report.units:,} (from {report.start:,})"

    @display(description="State", label=STATES, ordering="state")
    def is_in(self, report: MeterReport) -> str:
        return report.state

    @display(description="In doubt since (UTC)")
    def doubtful(self, report: MeterReport) -> str:
        return second(report.in_doubt_since)

    @display(description="Counted at (UTC)")
    def sent(self, report: MeterReport) -> str:
        return second(report.sent_at)

    @display(description="Booked at (UTC)")
    def booked(self, report: MeterReport) -> str:
        return second(report.at)

    @display(description="Last error")
    def why(self, report: MeterReport) -> str | None:
        return shortened(report.error, 60) or None

    @display(description="Last error")
    def whole_why(self, report: MeterReport) -> SafeString | None:
        return format_html(WRAPPED, report.error) if report.error else None


def ledger() -> list[dict[str, Any]]:
    """How much of the ledger is in which state, and since when the oldest waits or is in doubt."""
    rows = MeterReport.objects.order_by().values("state").annotate(count=Count("pk"), oldest=Min("created_at"))
    found = {row["state"]: row for row in rows}
    return [
        {
            "state": state,
            "colour": colour,
            "count": f"{found[state]['count']:,}",
            "oldest": second(found[state]["oldest"]),
        }
        for state, colour in STATES.items()
        if state in found
    ]


def shown_differences() -> dict[str, Any]:
    if not stripe_client.is_on():
        return {"stripe": False}
    found = statements.differences(now=timezone.now())
    emails = Account.objects.in_bulk({told.account_id for told in found})
    shown = [
        {
            "account": account_link(told.account_id, emails[told.account_id]),
            "month": told.month,
            "meter": plans.LABELS[told.meter],
        }
        | {"owed": f"{told.owed:,}", "counted": f"{told.counted:,}", "why": told.why}
        for told in found
    ]
    return {"stripe": True, "differences": shown}


class MirroredAdmin[Row: Model](ReadOnlyAdmin[Row]):
    """Rows name Stripe's customer; whose that is, is looked up with them."""

    search_fields = ("customer",)
    search_help_text = "Stripe's id of the customer, or of this"
    ordering = ("-created_at", "-id")
    when_empty = "Stripe tells of them by its webhook: see docs/stripe.md on how to set that up."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Row]:
        theirs = Account.objects.filter(stripe_customer_id=OuterRef("customer"))
        rows: Any = super().get_queryset(request)
        owned: QuerySet[Row] = rows.annotate(
            of_account=Subquery(theirs.values("pk")), email=Subquery(theirs.values("email"))
        )
        return owned

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Row], search_term: str
    ) -> tuple[QuerySet[Row], bool]:
        term = search_term.strip()
        found = queryset.filter(customer=term) | queryset.filter(pk=term)
        return (found if term else queryset), False

    @display(description="Account")
    def who(self, row: Any) -> SafeString | str:
        return account_link(row.of_account, row.email) if row.of_account else row.customer

    @display(description="Created at (UTC)", ordering="created_at")
    def made(self, row: Any) -> str:
        return second(row.created_at)


@admin.register(Invoice)
class InvoiceAdmin(MirroredAdmin[Invoice]):
    list_display = ("made", "who", "number", "state", "due", "paid", "period", "document")
    fields = readonly_fields = ("id", "customer", *list_display)

    @display(description="State", label=INVOICE_STATES, ordering="status")
    def state(self, invoice: Invoice) -> str:
        return invoice.status.capitalize()

    @display(description="Due")
    def due(self, invoice: Invoice) -> str:
        return plans.money(invoice.amount_due, invoice.currency)

    @display(description="Paid")
    def paid(self, invoice: Invoice) -> str:
        return plans.money(invoice.amount_paid, invoice.currency)

    @display(description="Period (UTC)")
    def period(self, invoice: Invoice) -> str:
        return f"{second(invoice.period_start)} to {second(invoice.period_end)}"

    @display(description="Document")
    def document(self, invoice: Invoice) -> SafeString | None:
        if not (invoice.invoice_pdf or "").startswith("https://"):
            return None
        return format_html('<a href="{}" rel="noreferrer" class="text-primary-600">PDF</a>', invoice.invoice_pdf)


@admin.register(Subscription)
class SubscriptionAdmin(MirroredAdmin[Subscription]):
    list_display = ("made", "who", "status", "unpaid", "felt")
    fields = readonly_fields = ("id", "customer", *list_display)

    @display(description="Ended unpaid")
    def unpaid(self, subscription: Subscription) -> SafeString | str:
        return badge("Yes", {"Yes": "danger"}) if subscription.ended_unpaid else "No"

    @display(description="Felt by the account")
    def felt(self, subscription: Subscription) -> str:
        return "Yes" if subscription.applied == subscription.status else "Not yet"
