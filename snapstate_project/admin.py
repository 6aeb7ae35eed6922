"""The audit log as administrators read it: who did what, when and from where, with what was before and after."""

from typing import Any
from uuid import UUID

from auditlog.models import LogEntry
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.contrib.filters.admin import ChoicesDropdownFilter, DropdownFilter, RangeDateTimeFilter
from unfold.decorators import display

from snapstate_project.common.admin import LINK, WRAPPED, ReadOnlyAdmin, second, shortened

# Their own pages would show the keys of second factors; what may be done to those is on the operator's page.
admin.site.unregister([LogEntry, TOTPDevice, StaticDevice])

# As the menu calls it.
LogEntry._meta.verbose_name_plural = "audit log"
UNBROKEN = '<span class="whitespace-nowrap">{}</span>'
WORDS = {0: "Created", 1: "Changed", 2: "Deleted", 3: "Looked at"}
COLOURS = {"Created": "success", "Changed": "info", "Deleted": "danger", "Looked at": "warning"}
KINDS = {
    "accounts.account": "Accounts",
    "accounts.apikey": "API keys",
    "accounts.deletion": "Deletions",
    "checkpoints.workflow": "Workflows",
    "webhooks.endpoint": "Webhooks",
    "webhooks.delivery": "Deliveries",
    "auth.user": "Operators",
    "auth.group": "Groups",
}


class KindFilter(DropdownFilter):
    title = "kind"
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return list(KINDS.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[LogEntry]) -> QuerySet[LogEntry]:
        if self.value() not in KINDS:
            return queryset
        app, model = (self.value() or "").split(".")
        return queryset.filter(content_type__app_label=app, content_type__model=model)


@admin.register(LogEntry)
class AuditAdmin(ReadOnlyAdmin[LogEntry]):
    list_display = ("at", "who", "did", "row", "changed")
    list_display_links = ("at",)
    list_filter = (("action", ChoicesDropdownFilter), KindFilter, ("timestamp", RangeDateTimeFilter))
    list_filter_submit = True
    list_select_related = ("content_type",)
    search_fields = ("actor_email",)
    search_help_text = "An operator's name, or the id of what was changed"
    ordering = ("-timestamp", "-id")
    sortable_by = ()
    fields = ("at", "who", "address", "request_id", "did", "row", "before_and_after")
    readonly_fields = fields

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[LogEntry], search_term: str
    ) -> tuple[QuerySet[LogEntry], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        try:
            return queryset.filter(object_pk=str(UUID(term))), False
        except ValueError:
            return queryset.filter(Q(actor_email=term) | Q(object_pk=term)), False

    @display(description="At (UTC)")
    def at(self, entry: LogEntry) -> SafeString:
        return format_html(UNBROKEN, second(entry.timestamp))

    @display(description="Who")
    def who(self, entry: LogEntry) -> str:
        return entry.actor_email or "-"

    @display(description="Did", label=COLOURS)
    def did(self, entry: LogEntry) -> str:
        return WORDS[entry.action]

    @display(description="To")
    def row(self, entry: LogEntry) -> SafeString:
        kind, text = entry.content_type.name, shortened(entry.object_repr, 60)
        name = f"admin:{entry.content_type.app_label}_{entry.content_type.model}_change"
        try:
            return format_html("{} {}", kind, format_html(LINK, reverse(name, args=[entry.object_pk]), text))
        except NoReverseMatch:
            return format_html("{} {}", kind, text)

    @display(description="What")
    def changed(self, entry: LogEntry) -> SafeString:
        """Of a new row every field is new: that says nothing."""
        fields = "" if entry.action == LogEntry.Action.CREATE else ", ".join(entry.changes or {})
        return format_html(WRAPPED, shortened((entry.additional_data or {}).get("what") or fields or "-", 100))

    @display(description="From")
    def address(self, entry: LogEntry) -> str:
        return entry.remote_addr or "-"

    @display(description="Request")
    def request_id(self, entry: LogEntry) -> str:
        return entry.cid or "-"

    @display(description="Before and after")
    def before_and_after(self, entry: LogEntry) -> SafeString:
        what = (entry.additional_data or {}).get("what", "")
        rows = [(name, *values(change)) for name, change in (entry.changes or {}).items()]
        return SafeString(render_to_string("admin/audit_changes.html", {"what": what, "rows": rows}))


def values(change: Any) -> tuple[str, str]:
    """What was and what is; of many-to-many fields what came or went."""
    if isinstance(change, list):
        return tuple("-" if value in (None, "None", "") else str(value) for value in change[:2])  # type: ignore[return-value]
    told = ", ".join(change["objects"])
    return ("-", told) if change["operation"] == "add" else (told, "-")
