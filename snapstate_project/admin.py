"""The audit log as administrators read it: who did what, when and from where, with what was before and after."""

from ast import literal_eval
from typing import Any
from uuid import UUID

from auditlog.models import LogEntry
from django.contrib import admin
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import FieldDoesNotExist
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

# As the menu calls it.
LogEntry._meta.verbose_name_plural = "audit log"
# Their own pages would show the keys of second factors; what may be done to those is on the operator's page.
admin.site.unregister([LogEntry, TOTPDevice, StaticDevice])

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
        kind = entry.content_type.name
        text = shortened(entry.object_repr.removeprefix(f"{kind} "), 60)  # a digest's name begins with its kind
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
        changes = (entry.changes or {}).items()
        rows = [(name, *values(change, has_many=has_many(entry, name))) for name, change in changes]
        return SafeString(render_to_string("admin/audit_changes.html", {"what": what, "rows": rows}))


def has_many(entry: LogEntry, name: str) -> bool:
    """A field that holds a list; of what is not there any more nobody knows."""
    try:
        return isinstance(entry.content_type.model_class()._meta.get_field(name), ArrayField)
    except (AttributeError, FieldDoesNotExist):
        return False


def values(change: Any, *, has_many: bool) -> tuple[str, str]:
    """What was and what is; of many-to-many fields what came or went."""
    if isinstance(change, list):
        before, after = (said(value, has_many=has_many) for value in change[:2])
        return before, after
    told = ", ".join(change["objects"])
    return ("-", told) if change["operation"] == "add" else (told, "-")


def said(value: Any, *, has_many: bool) -> str:
    if value in (None, "None", ""):
        return "-"
    return joined(str(value)) if has_many else str(value)


def joined(text: str) -> str:
    """A list stands in the log as Python writes it."""
    try:
        return ", ".join(literal_eval(text)) or "-"
    except (SyntaxError, TypeError, ValueError):
        return text
