"""Webhooks as operators see them: who hears of what, how well it goes, and the switch. No secret is ever shown."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import action, display
from unfold.enums import ActionVariant
from unfold.views import ChangeList

from accounts.admin_pages import UNBROKEN, RowsByPage, back_to, badge, confirmed, form_page, minute
from snapstate_project.common.admin import WRAPPED, account_link, offered, shortened
from webhooks import delivery_admin, services
from webhooks.forms import ReasonForm, WindowForm
from webhooks.models import Endpoint

STATES = {"active": "success", "failing": "warning", "disabled": "danger"}
DISABLING = {
    "title": "Disable",
    "consequence": "Nothing more is sent to it. What falls due meanwhile is given up, and can be sent again later. "
    "Its owner sees the reason.",
    "button": "Disable",
    "done": "Disabled",
    "variant": "danger",
}
ENABLING = {
    "title": "Enable",
    "consequence": "It hears of what happens from now on.",
    "button": "Enable",
    "done": "Enabled",
}


class EndpointList(ChangeList):
    """The rows of a page with their success: one query for all of them."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        rates = Endpoint.objects.success_of([endpoint.pk for endpoint in self.result_list])
        for endpoint in self.result_list:
            endpoint.rate = rates.get(endpoint.pk)


@admin.register(Endpoint)
class EndpointAdmin(RowsByPage[Endpoint]):
    list_display = ("name", "state", "success", "owner", "goes_to", "created")
    list_filter = (("status", ChoicesDropdownFilter),)
    list_filter_submit = True
    list_select_related = ("account",)
    when_empty = "Accounts register their own, by POST /webhooks with a key that may manage webhooks."
    search_fields = ("webhook_id", "url", "account__email")
    search_help_text = "Webhook id, URL, account's email or id"
    fieldsets = (
        (None, {"fields": ("name", "owner", "goes_to_whole", "hears_of", "described", "state", "success")}),
        ("Trouble", {"fields": ("failing", "disabled", "apart")}),
        ("Times (UTC)", {"fields": ("created", "updated")}),
    )
    actions: Any = ("disable_selected", "enable_selected")
    actions_detail: Any = ("see_deliveries", "resend_since", "disable", "enable")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Endpoint]:
        found: QuerySet[Endpoint] = super().get_queryset(request)
        return found.exclude(status=Endpoint.Status.DELETED)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return EndpointList

    def get_search_results(self, request: HttpRequest, queryset: Any, search_term: str) -> tuple[Any, bool]:
        try:
            return queryset.filter(account_id=UUID(search_term.strip())), False
        except ValueError:
            return super().get_search_results(request, queryset, search_term)

    # --- What is shown ---

    @display(description="Webhook", ordering="id")
    def name(self, endpoint: Endpoint) -> SafeString:
        return format_html('<code class="whitespace-nowrap">{}</code>', endpoint.webhook_id)

    @display(description="State")
    def state(self, endpoint: Endpoint) -> SafeString:
        failing = endpoint.status == Endpoint.Status.ACTIVE and endpoint.failing_since
        return badge("failing" if failing else endpoint.status, STATES)

    @display(description="Account")
    def owner(self, endpoint: Endpoint) -> SafeString | str:
        return account_link(endpoint.account_id, endpoint.account)

    @display(description="URL")
    def goes_to(self, endpoint: Endpoint) -> str:
        return shortened(endpoint.url, 30)

    @display(description="URL")
    def goes_to_whole(self, endpoint: Endpoint) -> SafeString:
        return format_html(WRAPPED, endpoint.url)

    @display(description="Success")
    def success(self, endpoint: Any) -> SafeString | str:
        """Of the newest deliveries that are over."""
        if not hasattr(endpoint, "rate"):  # on its own page; a list has asked for all of its rows
            endpoint.rate = Endpoint.objects.success_of([endpoint.pk]).get(endpoint.pk)
        rate = endpoint.rate
        if rate is None:
            return "nothing sent yet"
        delivered, total = rate
        return format_html(UNBROKEN, f"{100 * delivered / total:.0f} % of the last {total}")

    @display(description="Hears of")
    def hears_of(self, endpoint: Endpoint) -> str:
        return ", ".join(endpoint.events)

    @display(description="Description")
    def described(self, endpoint: Endpoint) -> SafeString | None:
        return format_html(WRAPPED, endpoint.description) if endpoint.description else None

    @display(description="Failing since")
    def failing(self, endpoint: Endpoint) -> SafeString | None:
        return minute(endpoint.failing_since)

    @display(description="Disabled")
    def disabled(self, endpoint: Endpoint) -> str | None:
        return f"{endpoint.disabled_at:%Y-%m-%d %H:%M}: {endpoint.disabled_reason}" if endpoint.disabled_at else None

    @display(description="Slow")
    def apart(self, endpoint: Endpoint) -> str:
        return "Yes: its last attempt took long, so it waits apart from the others" if endpoint.slow else "No"

    @display(description="Created", ordering="id")
    def created(self, endpoint: Endpoint) -> SafeString | None:
        return minute(endpoint.created_at)

    @display(description="Last changed")
    def updated(self, endpoint: Endpoint) -> SafeString | None:
        return minute(endpoint.updated_at)

    # --- What may be done ---

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return [name for _, options in self.fieldsets for name in options["fields"]]

    def has_manage_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm("webhooks.change_endpoint")

    def has_disable_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        fits = self.status_of(request, object_id) == Endpoint.Status.ACTIVE
        return offered(request, "disable", may=self.has_manage_permission(request), fits=fits)

    def has_enable_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        fits = self.status_of(request, object_id) == Endpoint.Status.DISABLED
        return offered(request, "enable", may=self.has_manage_permission(request), fits=fits)

    def status_of(self, request: HttpRequest, object_id: Any) -> str | None:
        endpoint: Endpoint | None = self.get_object(request, str(object_id))
        return endpoint.status if endpoint else None

    @action(description="Deliveries", icon="outbox", url_path="see_deliveries", permissions=["view"])
    def see_deliveries(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return delivery_admin.deliveries_of(self.found(request, object_id))

    @action(description="Disable", icon="pause_circle", permissions=["disable"], variant=ActionVariant.DANGER)
    def disable(self, request: HttpRequest, object_id: str) -> HttpResponse:
        form = ReasonForm(request.POST if request.POST.get("confirmed") == "yes" else None)
        return self.change_one(request, object_id, services.disable_endpoint, DISABLING, form)

    @action(description="Enable", icon="play_circle", permissions=["enable"], variant=ActionVariant.SUCCESS)
    def enable(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.change_one(request, object_id, services.enable_endpoint, ENABLING)

    def change_one(
        self, request: HttpRequest, object_id: str, act: Any, words: dict[str, str], form: ReasonForm | None = None
    ) -> HttpResponse:
        endpoint = self.found(request, object_id)

        def change(each: Endpoint) -> None:
            act(each, **(form.cleaned_data if form else {}))

        back = back_to(self, endpoint)
        return confirmed(self, request, [endpoint], change, back=back, original=endpoint, form=form, **words)

    def has_resend_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        may = request.user.has_perm("webhooks.resend_delivery")
        fits = self.status_of(request, object_id) == Endpoint.Status.ACTIVE
        return offered(request, "resend_since", may=may, fits=fits)

    @action(description="Send again", icon="send", permissions=["resend"])
    def resend_since(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Everything of a time, as after an outage of the receiver's."""
        endpoint = self.found(request, object_id)
        form = WindowForm(request.POST or None)

        def send(form: Any) -> HttpResponse:
            count = services.resend_window(endpoint, **form.cleaned_data)
            said = f"{count:,} deliver{'y' if count == 1 else 'ies'}"
            self.log_change(request, endpoint, f"Sent again: {said}, {form.said()}.")
            messages.success(request, f"To be sent again: {said}.")
            return redirect(back_to(self, endpoint))

        return form_page(self, request, form, send, original=endpoint, title="Send again", button="Send again")

    @admin.action(description="Disable", permissions=["manage"])
    def disable_selected(self, request: HttpRequest, queryset: QuerySet[Endpoint]) -> HttpResponse:
        chosen = list(queryset.filter(status=Endpoint.Status.ACTIVE))
        form = ReasonForm(request.POST if request.POST.get("confirmed") == "yes" else None)

        def disable(each: Endpoint) -> None:
            services.disable_endpoint(each, **form.cleaned_data)

        return confirmed(self, request, chosen, disable, back=back_to(self), form=form, **DISABLING)

    @admin.action(description="Enable", permissions=["manage"])
    def enable_selected(self, request: HttpRequest, queryset: QuerySet[Endpoint]) -> HttpResponse:
        chosen = list(queryset.filter(status=Endpoint.Status.DISABLED))
        return confirmed(self, request, chosen, services.enable_endpoint, back=back_to(self), **ENABLING)
