"""Deliveries as operators see them: what was sent, every attempt, and once more."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import admin
from django.db.models import Max, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import action, display

from accounts.admin_pages import UNBROKEN, back_to, badge, confirmed
from snapstate_project.common.admin import LINK, WRAPPED, ReadOnlyAdmin, account_link, second, shortened, when
from webhooks import services
from webhooks.models import Delivery, Endpoint

LOOKED_AT_MOST = 100_000
COLOURS = {"pending": "info", "delivered": "success", "failed": "danger"}
ATTEMPT_TITLES = ("At (UTC)", "Status", "Took", "Error", "Answer")
RESENDING = {
    "title": "Send again",
    "consequence": "The same message goes out under the same id, at once, with all its retries before it.",
    "button": "Send again",
    "done": "To be sent again",
}


class StatusFilter(DropdownFilter):
    title = "status"
    parameter_name = "status"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in COLOURS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> QuerySet[Delivery]:
        """Among the newest only: no index serves the status, and a rare one must not cost a scan of thirty days."""
        if self.value() not in COLOURS:
            return queryset
        newest = Delivery.objects.aggregate(newest=Max("id"))["newest"] or 0
        return queryset.filter(status=self.value(), id__gt=newest - LOOKED_AT_MOST)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin[Delivery]):
    list_display = ("name", "state", "what", "goes_to", "tried", "last_answer", "queued_at", "owner")
    list_filter = (StatusFilter,)
    list_select_related = ("endpoint__account",)
    search_fields = ("id",)
    search_help_text = "Webhook id or account id"
    ordering = ("-id",)
    sortable_by = ()
    when_empty = "A webhook and an event that it wants to hear of make one. See under Webhooks whether there is any."
    fields = ("whole_name", "event", "what", "webhook", "owner", "state", "next_attempt", "queued", "content")
    readonly_fields = fields
    change_form_after_template = "admin/webhooks/attempts.html"
    actions: Any = ("resend_selected",)
    actions_detail: Any = ("resend",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Delivery], search_term: str
    ) -> tuple[QuerySet[Delivery], bool]:
        term = search_term.strip()
        return (queryset.filter(endpoint__in=list(endpoints_named(term))) if term else queryset), False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        delivery = Delivery.objects.filter(pk=object_id).first() if object_id.isdecimal() else None
        attempts = delivery.attempts[::-1] if delivery else []
        shown = {"attempts": attempts, "attempt_titles": ATTEMPT_TITLES}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    @display(description="Delivery")
    def name(self, delivery: Delivery) -> SafeString:
        return format_html('<code class="whitespace-nowrap">{}…</code>', delivery.delivery_id[:16])

    @display(description="Delivery")
    def whole_name(self, delivery: Delivery) -> SafeString:
        return format_html(WRAPPED, delivery.delivery_id)

    @display(description="Message id")
    def event(self, delivery: Delivery) -> SafeString:
        return format_html(WRAPPED, delivery.event_id)

    @display(description="State")
    def state(self, delivery: Delivery) -> SafeString:
        return badge(delivery.status, COLOURS)

    @display(description="Event")
    def what(self, delivery: Delivery) -> str:
        return delivery.event_type

    @display(description="Webhook")
    def goes_to(self, delivery: Delivery) -> SafeString:
        url = reverse("admin:webhooks_endpoint_change", args=[delivery.endpoint_id])
        return format_html(LINK, url, f"{delivery.endpoint.webhook_id[:11]}…")

    @display(description="Webhook")
    def webhook(self, delivery: Delivery) -> SafeString:
        url = reverse("admin:webhooks_endpoint_change", args=[delivery.endpoint_id])
        link = format_html('<a href="{}" class="underline">{}</a>', url, delivery.endpoint.webhook_id)
        return format_html("{} {}", link, format_html(WRAPPED, delivery.endpoint.url))

    @display(description="Account")
    def owner(self, delivery: Delivery) -> SafeString | str:
        return account_link(delivery.endpoint.account_id, delivery.endpoint.account)

    @display(description="Tries")
    def tried(self, delivery: Delivery) -> int:
        return len(delivery.attempts)

    @display(description="Last answer")
    def last_answer(self, delivery: Delivery) -> SafeString | None:
        """An error by its kind; what it says stands in the title, and among the attempts."""
        if not delivery.attempts:
            return None
        last = delivery.attempts[-1]
        whole = str(last["status_code"] or last["error"])
        return format_html('<span title="{}">{}</span>', whole, shortened(whole.partition(":")[0], 24))

    @display(description="Next attempt (UTC)")
    def next_attempt(self, delivery: Delivery) -> str:
        return second(delivery.next_attempt_at)

    @display(description="Queued (UTC)")
    def queued(self, delivery: Delivery) -> str | None:
        return when(delivery.created_at)

    @display(description="Queued (UTC)")
    def queued_at(self, delivery: Delivery) -> SafeString:
        return format_html(UNBROKEN, second(delivery.created_at))

    @display(description="Body")
    def content(self, delivery: Delivery) -> SafeString:
        return format_html(WRAPPED, delivery.body)

    def has_resend_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm("webhooks.resend_delivery")

    @action(description="Send again", icon="send", permissions=["resend"])
    def resend(self, request: HttpRequest, object_id: str) -> HttpResponse:
        delivery: Delivery | None = self.get_object(request, object_id)
        if delivery is None:
            raise Http404
        back = back_to(self, delivery)
        return confirmed(self, request, [delivery], services.resend_delivery, back=back, original=delivery, **RESENDING)

    @admin.action(description="Send again", permissions=["resend"])
    def resend_selected(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> HttpResponse:
        return confirmed(self, request, list(queryset), services.resend_delivery, back=back_to(self), **RESENDING)


def endpoints_named(term: str) -> QuerySet[Endpoint]:
    try:
        return Endpoint.objects.filter(account_id=UUID(term))
    except ValueError:
        return Endpoint.objects.filter(webhook_id=term)


def deliveries_of(endpoint: Endpoint) -> HttpResponse:
    """The list of one endpoint's deliveries."""
    return redirect(f"{reverse('admin:webhooks_delivery_changelist')}?{urlencode({'q': endpoint.webhook_id})}")
