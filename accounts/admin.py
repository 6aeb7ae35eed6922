"""Accounts and keys as operators see them. Rows are shown, never edited: every change is an action of `services`."""

import secrets
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.module_loading import import_string
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import AllValuesCheckboxFilter, ChoicesDropdownFilter
from unfold.decorators import action, display
from unfold.enums import ActionVariant
from unfold.views import ChangeList

from accounts import operator_admin, services  # noqa: F401 (registers the operators' pages)
from accounts.admin_pages import RowsByPage, back_to, badge, form_page, minute, page
from accounts.forms import NewAccountForm, NewKeyForm, TermsForm
from accounts.key_admin import KeyInline
from accounts.keys import SCOPES
from accounts.models import Account, ApiKey, Deletion
from accounts.status_admin import StatusActions
from snapstate_project.common.admin import LINK, second, shortened

TICKET, LIMIT_HISTORY = "accounts.issue_key", "accounts.limit_history"
NAME_SHOWN = 40  # the columns beside it are to be seen, too
UNPAID, LEAVING = "suspended: unpaid", "to be deleted"
STATES = {"active": "success", "suspended": "warning", UNPAID: "warning", LEAVING: "danger", "closed": "danger"}


class AccountList(ChangeList):
    """The rows of a page with their usage: one query for all of them."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        services.note_usage(self.result_list)


def held_ticket(request: HttpRequest) -> str | None:
    """As the session has it now, which nobody else can change until this transaction ends."""
    session = Session.objects.select_for_update().filter(session_key=request.session.session_key).first()
    return session.get_decoded().get(TICKET) if session else None


@admin.register(Account)
class AccountAdmin(StatusActions, RowsByPage[Account]):
    list_display = ("who", "state", "plan", "calls", "keys_in_use", "writes", "created")
    list_filter = (("status", ChoicesDropdownFilter), ("plan", AllValuesCheckboxFilter))
    list_filter_submit = True
    search_fields = ("email", "name")
    search_help_text = "Email, name or id"
    fieldsets = (
        (None, {"fields": ("email", "name", "id", "state", "why", "leaving", "plan", "stripe_customer_id")}),
        ("Limits", {"fields": ("calls", "all_keys", "kept", "archived_for")}),
        ("Times (UTC)", {"fields": ("created", "updated")}),
    )
    inlines = (KeyInline,)
    actions: Any = ("suspend_selected", "reactivate_selected")
    actions_detail: Any = (
        *("issue_key", "change_terms", "suspend", "reactivate"),
        *("schedule_deletion", "undo_deletion"),
    )
    change_form_outer_before_template: Any = "admin/accounts/usage.html"
    change_form_outer_after_template: Any = "admin/accounts/panels.html"

    # --- What is shown ---

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return AccountList

    def get_queryset(self, request: HttpRequest) -> QuerySet[Account]:
        keys = ApiKey.objects.in_use(timezone.now()).filter(account=OuterRef("pk")).order_by().values("account")
        count = keys.annotate(count=Count("pk")).values("count")
        leaving = Deletion.objects.open().filter(account=OuterRef("pk"))
        accounts: QuerySet[Account] = super().get_queryset(request)
        return accounts.annotate(key_count=Coalesce(Subquery(count), 0), is_leaving=Exists(leaving))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """With what other rooms know of the account: asked of the wiring, which settings.ACCOUNT_PANELS names."""
        account = self.get_object(request, object_id)
        shown = import_string(settings.ACCOUNT_PANELS)(account, request.user) if account else {}
        return super().change_view(request, object_id, form_url, {**(extra_context or {}), **shown})

    @display(description="Account", ordering="email", header=True)
    def who(self, account: Account) -> list[str]:
        return [shortened(account.email, NAME_SHOWN), shortened(account.name, NAME_SHOWN)]

    @display(description="State", ordering="status")
    def state(self, account: Any) -> SafeString:
        unpaid = UNPAID if account.held_for_payment else account.status
        return badge(LEAVING if account.is_leaving else unpaid, STATES)

    @display(description="Rate limit", ordering="rate_limit_max")
    def calls(self, account: Account) -> str:
        return f"{account.rate_limit:,}" if account.rate_limit_max else f"{account.rate_limit:,} (standard)"

    @display(description="Keys in use")
    def keys_in_use(self, account: Any) -> int:
        count: int = account.key_count
        return count

    @display(description="Keys")
    def all_keys(self, account: Any) -> SafeString:
        url = f"{reverse('admin:accounts_apikey_changelist')}?q={account.pk}"
        return format_html(LINK, url, f"{account.key_count:,} in use, {account.keys.count():,} in all")

    @display(description="Writes this month")
    def writes(self, account: Account) -> str:
        return f"{account.usage_this_month['checkpoint_writes']:,}"

    @display(description="Reason")
    def why(self, account: Account) -> str | None:
        return account.status_reason or None

    @display(description="Deletion")
    def leaving(self, account: Account) -> str | None:
        deletion = account.deletions.open().first()
        if deletion is None:
            return None
        return "under way" if deletion.began_at else f"due {second(deletion.due_at)} UTC; can be undone until then"

    @display(description="Checkpoints kept")
    def kept(self, account: Account) -> str:
        return f"the newest {account.keep_last:,} of a workflow" if account.keep_last else "all"

    @display(description="In the archive")
    def archived_for(self, account: Account) -> str:
        return f"{account.archive_days:,} days" if account.archive_days else "for ever"

    @display(description="Created", ordering="created_at")
    def created(self, account: Account) -> SafeString | None:
        return minute(account.created_at)

    @display(description="Last changed")
    def updated(self, account: Account) -> SafeString | None:
        return minute(account.updated_at)

    # --- What may be done ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.add_account")

    def has_manage_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm("accounts.change_account")

    def has_issue_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm("accounts.add_apikey")

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied

        def create(form: NewAccountForm) -> HttpResponse:
            account = services.create_account(**form.cleaned_data)
            self.log_addition(request, account, "Created.")
            return redirect(back_to(self, account))

        form = NewAccountForm(request.POST or None)
        return form_page(self, request, form, create, title="New account", button="Create account")

    @action(description="Issue key", icon="key", permissions=["issue"], variant=ActionVariant.PRIMARY)
    def issue_key(self, request: HttpRequest, object_id: str) -> HttpResponse:
        account = self.found(request, object_id)

        def issue(form: NewKeyForm) -> HttpResponse:
            # A secret is shown once: a form sent twice, one after the other or at once, must not issue a second key.
            with transaction.atomic():
                if held_ticket(request) != form.cleaned_data["ticket"]:
                    messages.warning(request, "That form had been used already. Fill in a new one for another key.")
                    return redirect(back_to(self, account))
                key, secret = services.issue_key(account, **form.wanted)
                del request.session[TICKET]
                request.session.save()
            self.log_change(request, account, f"Issued key {key}.")
            return page(self, request, "key_issued.html", original=account, key=key, secret=secret, title="Key issued")

        if request.method != "POST":
            request.session[TICKET] = secrets.token_urlsafe(16)
        form = NewKeyForm(request.POST or None, initial={"scopes": SCOPES, "ticket": request.session.get(TICKET)})
        return form_page(self, request, form, issue, original=account, title="Issue key", button="Issue key")

    @action(description="Plan and limit", icon="tune", permissions=["manage"])
    def change_terms(self, request: HttpRequest, object_id: str) -> HttpResponse:
        account = self.found(request, object_id)

        def change(form: TermsForm) -> HttpResponse:
            if form.changes:
                services.update_account(account, **form.changes)
                self.log_change(request, account, f"{form.said()}.")
                messages.success(request, f"Changed: {form.said()}")
            return redirect(back_to(self, account))

        form = TermsForm(account, request.POST or None, may_limit_history=request.user.has_perm(LIMIT_HISTORY))
        return form_page(self, request, form, change, original=account, title="Plan and limit", button="Save")
