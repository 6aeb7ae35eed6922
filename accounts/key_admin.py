"""Keys as operators see them: in a list of all, and on their account's page."""

from typing import Any

from django.contrib import admin
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.admin import TabularInline
from unfold.contrib.filters.admin import DropdownFilter
from unfold.decorators import action, display
from unfold.enums import ActionVariant
from unfold.forms import PaginationInlineFormSet

from accounts import services
from accounts.admin_pages import RowsByPage, back_to, badge, confirmed, form_page, minute
from accounts.forms import ScopesForm
from accounts.keys import SCOPES
from accounts.models import ApiKey
from snapstate_project.common.admin import LINK, account_link, offered, shortened

SHOWN = 50
STATES = {"in use": "success", "revoked": "danger", "expired": "warning"}
REVOKING = {
    "title": "Revoke",
    "consequence": "Whoever uses the key is refused (401) within a second. This cannot be undone.",
    "button": "Revoke",
    "done": "Revoked",
    "variant": "danger",
}


class KeyColumns:
    @display(description="Key", ordering="prefix")
    def key(self, key: ApiKey) -> SafeString:
        return format_html('<code class="whitespace-nowrap">{}</code>', key)

    @display(description="State")
    def state(self, key: ApiKey) -> SafeString:
        unrevoked = "in use" if key.is_in_use(timezone.now()) else "expired"
        return badge("revoked" if key.revoked_at else unrevoked, STATES)

    @display(description="Label", ordering="label")
    def label_short(self, key: ApiKey) -> str:
        return shortened(key.label)

    @display(description="May")
    def may(self, key: ApiKey) -> str:
        return "everything" if set(key.scopes) == set(SCOPES) else ", ".join(key.scopes) or "nothing"

    @display(description="Last used", ordering="last_used_at")
    def last_used(self, key: ApiKey) -> SafeString | None:
        return minute(key.last_used_at)

    @display(description="Expires", ordering="expires_at")
    def expires(self, key: ApiKey) -> SafeString | None:
        return minute(key.expires_at)

    @display(description="Created", ordering="created_at")
    def created(self, key: ApiKey) -> SafeString | None:
        return minute(key.created_at)


class NewestKeys(PaginationInlineFormSet):
    """Of an account that rotates its keys those that still count: there may be thousands of others."""

    def get_queryset(self) -> Any:
        if not hasattr(self, "_queryset"):
            rows = super().get_queryset().order_by(F("revoked_at").desc(nulls_first=True), "-created_at", "-id")
            self._queryset = rows[:SHOWN]
        return self._queryset


class KeyInline(KeyColumns, TabularInline):  # type: ignore[misc]  # unfold's own mixins disagree
    model = ApiKey
    formset = NewestKeys
    verbose_name_plural = f"Keys (at most {SHOWN}, the revoked ones last)"
    fields = ("linked", "label_short", "state", "may", "last_used", "expires", "created")
    readonly_fields = (*fields, "revoking")
    extra = max_num = 0
    can_delete = False
    show_title = False

    @display(description="Key")
    def linked(self, key: ApiKey) -> SafeString:
        return format_html(LINK, reverse("admin:accounts_apikey_change", args=[key.pk]), self.key(key))

    @display(description="")
    def revoking(self, key: ApiKey) -> SafeString | None:
        url = reverse("admin:accounts_apikey_revoke", args=[key.pk])
        return format_html(LINK, url, "Revoke") if key.revoked_at is None else None

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return (*self.fields, "revoking") if request.user.has_perm("accounts.change_apikey") else self.fields

    def has_add_permission(self, *_: Any, **__: Any) -> bool:
        return False

    def has_change_permission(self, *_: Any, **__: Any) -> bool:
        return False


class StateFilter(DropdownFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, *_: Any) -> list[tuple[str, str]]:
        return [("in_use", "In use"), ("expired", "Expired"), ("revoked", "Revoked")]

    def queryset(self, _: HttpRequest, queryset: QuerySet[ApiKey]) -> QuerySet[ApiKey]:
        now = timezone.now()
        states = {
            "in_use": Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now)),
            "expired": Q(revoked_at=None, expires_at__lte=now),
            "revoked": Q(revoked_at__isnull=False),
        }
        return queryset.filter(states.get(self.value() or "", Q()))


@admin.register(ApiKey)
class ApiKeyAdmin(KeyColumns, RowsByPage[ApiKey]):
    list_display = ("key", "state", "label_short", "owner", "may", "last_used", "expires", "created")
    list_filter = (StateFilter,)
    list_filter_submit = True
    list_select_related = ("account",)
    search_fields = ("prefix__startswith", "label", "account__email")
    search_help_text = "First characters, label, account's email, or either's id"
    found_by_id = ("pk", "account")
    fields = readonly_fields = (
        *("key", "id", "owner", "state", "label", "may"),
        *("last_used", "expires", "revoked", "created"),
    )
    actions: Any = ("revoke_selected",)
    actions_detail: Any = ("change_scopes", "revoke")

    @display(description="Account", ordering="account__email")
    def owner(self, key: ApiKey) -> SafeString | str:
        return account_link(key.account_id, key.account)

    @display(description="Revoked")
    def revoked(self, key: ApiKey) -> SafeString | None:
        return minute(key.revoked_at)

    def has_manage_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm("accounts.change_apikey")

    def has_revoke_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return self.offered(request, "revoke", object_id)

    def has_scopes_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return self.offered(request, "change_scopes", object_id)

    def offered(self, request: HttpRequest, action: str, object_id: Any) -> bool:
        key: ApiKey | None = self.get_object(request, str(object_id))
        fits = key is not None and key.revoked_at is None
        return offered(request, action, may=self.has_manage_permission(request), fits=fits)

    @admin.action(description="Revoke", permissions=["manage"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> HttpResponse:
        chosen = list(queryset.filter(revoked_at=None))
        return confirmed(self, request, chosen, services.revoke_key, back=back_to(self), **REVOKING)

    @action(description="Revoke", icon="block", permissions=["revoke"], variant=ActionVariant.DANGER)
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        key = self.found(request, object_id)
        return confirmed(self, request, [key], services.revoke_key, back=back_to(self, key), original=key, **REVOKING)

    @action(description="Change scopes", icon="rule", permissions=["scopes"])
    def change_scopes(self, request: HttpRequest, object_id: str) -> HttpResponse:
        key = self.found(request, object_id)

        def change(form: ScopesForm) -> HttpResponse:
            scopes = services.change_scopes(key, form.cleaned_data["scopes"]).scopes
            self.log_change(request, key, f"Scopes: {', '.join(scopes) or 'none'}.")
            return redirect(back_to(self, key))

        form = ScopesForm(request.POST or None, initial={"scopes": key.scopes})
        return form_page(self, request, form, change, original=key, title="Change scopes", button="Save")
