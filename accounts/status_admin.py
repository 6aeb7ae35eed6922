"""What operators do to an account as a whole: suspend, reactivate, have it deleted, undo that; each with a reason."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action
from unfold.enums import ActionVariant

from accounts import closing, services
from accounts.admin_pages import back_to, confirmed, is_confirmed
from accounts.forms import DeletionForm, MaybeReasonForm, ReasonForm
from accounts.models import Account, Deletion
from snapstate_project.common.admin import offered

SUSPENDING = {
    "title": "Suspend",
    "consequence": "All keys of the account are refused (403) within a second. Nothing is lost.",
    "button": "Suspend",
    "done": "Suspended",
    "variant": "danger",
}
REACTIVATING = {
    "title": "Reactivate",
    "consequence": "The keys of the account work again.",
    "button": "Reactivate",
    "done": "Reactivated",
}
DELETING = {
    "title": "Schedule deletion",
    "consequence": (
        "Suspended from now on. When the days are over, every workflow is erased in every tier, webhooks and agents "
        "go, all keys are revoked and the account is closed; a subscription at Stripe ends with a last invoice. "
        "Usage and invoices stay."
    ),
    "button": "Schedule deletion",
    "done": "Deletion scheduled",
    "variant": "danger",
}
UNDOING = {
    "title": "Undo deletion",
    "consequence": "Nothing is deleted, and the account is as it was before: if it was active, its keys work again.",
    "button": "Undo deletion",
    "done": "Deletion undone",
}


class StatusActions:
    """For the account's admin, which brings the rest. Which fits the account's state now is asked of the row."""

    # --- Who may ---

    def has_status_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm("accounts.suspend_account")

    def has_close_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm("accounts.close_account")

    def has_suspend_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Also where only Stripe has suspended it: then the suspension becomes an operator's."""
        account = self.row(request, object_id)
        is_active = account is not None and (account.status == Account.Status.ACTIVE or account.held_for_payment)
        fits = is_active and not account.is_leaving
        return offered(request, "suspend", may=self.has_status_permission(request), fits=fits)

    def has_reactivate_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        account = self.row(request, object_id)
        fits = account is not None and account.status != Account.Status.ACTIVE and not account.is_leaving
        return offered(request, "reactivate", may=self.has_status_permission(request), fits=fits)

    def has_delete_account_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        account = self.row(request, object_id)
        fits = account is not None and account.status != Account.Status.CLOSED and not account.is_leaving
        return offered(request, "schedule_deletion", may=self.has_close_permission(request), fits=fits)

    def has_undo_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        account = self.row(request, object_id)
        fits = account is not None and account.deletions.open().filter(began_at=None).exists()
        return offered(request, "undo_deletion", may=self.has_close_permission(request), fits=fits)

    def row(self, request: HttpRequest, object_id: Any) -> Any:
        return self.get_object(request, str(object_id))  # type: ignore[attr-defined]  # the admin's

    # --- What they do ---

    @action(description="Suspend", icon="pause_circle", permissions=["suspend"], variant=ActionVariant.DANGER)
    def suspend(self, request: HttpRequest, object_id: str) -> HttpResponse:
        form = ReasonForm(request.POST if is_confirmed(request) else None)
        return self.change_one(request, object_id, form, services.suspend_account, SUSPENDING)

    @action(description="Reactivate", icon="play_circle", permissions=["reactivate"], variant=ActionVariant.SUCCESS)
    def reactivate(self, request: HttpRequest, object_id: str) -> HttpResponse:
        form = MaybeReasonForm(request.POST if is_confirmed(request) else None)
        return self.change_one(request, object_id, form, services.reactivate_account, REACTIVATING)

    @action(description="Delete", icon="delete", permissions=["delete_account"], variant=ActionVariant.DANGER)
    def schedule_deletion(self, request: HttpRequest, object_id: str) -> HttpResponse:
        form = DeletionForm(request.POST if is_confirmed(request) else None)
        return self.change_one(request, object_id, form, closing.schedule_deletion, DELETING)

    @action(description="Undo deletion", icon="undo", permissions=["undo"], variant=ActionVariant.SUCCESS)
    def undo_deletion(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self.change_one(request, object_id, None, closing.undo_deletion, UNDOING)

    def change_one(
        self, request: HttpRequest, object_id: str, form: Form | None, act: Any, words: dict[str, str]
    ) -> HttpResponse:
        """What the form asks for goes to the service by its names."""
        admin_: Any = self
        account = admin_.found(request, object_id)
        back = back_to(admin_, account)

        def change(each: Any) -> None:
            act(each, **(form.cleaned_data if form else {}))

        return confirmed(admin_, request, [account], change, back=back, original=account, form=form, **words)

    @admin.action(description="Suspend", permissions=["status"])
    def suspend_selected(self, request: HttpRequest, queryset: QuerySet[Account]) -> HttpResponse:
        open_to_it = queryset.filter(Q(status=Account.Status.ACTIVE) | Q(held_for_payment=True))
        chosen = open_to_it.exclude(pk__in=Deletion.objects.open().values("account"))
        form = ReasonForm(request.POST if is_confirmed(request) else None)
        return self.change_several(request, chosen, form, services.suspend_account, SUSPENDING)

    @admin.action(description="Reactivate", permissions=["status"])
    def reactivate_selected(self, request: HttpRequest, queryset: QuerySet[Account]) -> HttpResponse:
        leaving = Deletion.objects.open().values("account")
        chosen = queryset.exclude(status=Account.Status.ACTIVE).exclude(pk__in=leaving)
        form = MaybeReasonForm(request.POST if is_confirmed(request) else None)
        return self.change_several(request, chosen, form, services.reactivate_account, REACTIVATING)

    def change_several(
        self, request: HttpRequest, chosen: QuerySet[Account], form: Form, act: Any, words: dict[str, str]
    ) -> HttpResponse:
        admin_: Any = self
        return confirmed(
            admin_,
            request,
            list(chosen),
            lambda each: act(each, **form.cleaned_data),
            back=back_to(admin_),
            form=form,
            **words,
        )
