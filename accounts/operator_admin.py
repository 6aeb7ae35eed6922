"""The operators themselves: Django's users and groups, in the admin's theme. Whoever is added here may sign in."""

from typing import Any

from axes.utils import reset
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.http import Http404, HttpRequest, HttpResponse
from unfold.admin import ModelAdmin
from unfold.decorators import action, display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from accounts import second_factor
from accounts.admin_pages import back_to, confirmed
from snapstate_project.common.admin import LiteralSearch, second
from snapstate_project.common.audit import record

RESETTING = {
    "title": "Reset second factor",
    "consequence": "For who has lost app and codes: the password alone signs in, until a new app is enrolled.",
    "button": "Reset",
    "done": "Second factor reset",
    "variant": "danger",
}
UNLOCKING = {
    "title": "Unlock sign-in",
    "consequence": "Wrong passwords so far are forgotten: the operator may try again at once, from everywhere.",
    "button": "Unlock",
    "done": "Unlocked",
}
LEAVING = "Who leaves is set inactive, not deleted: signed out at once, and still named by histories and the audit log."
# As the menu calls them; the model is Django's own.
User._meta.verbose_name, User._meta.verbose_name_plural = "operator", "operators"
admin.site.unregister([User, Group])


@admin.register(User)
class OperatorAdmin(LiteralSearch, DjangoUserAdmin, ModelAdmin):  # type: ignore[type-arg]  # generic only in the stubs
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "email", "is_active", "is_staff", "is_superuser", "signed_in")
    list_filter = ("groups", "is_active")
    filter_horizontal = ("groups",)
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("May", {"description": LEAVING, "fields": ("is_active", "is_staff", "is_superuser", "groups")}),
        ("Times (UTC)", {"fields": ("signed_in", "added")}),
    )
    readonly_fields = ("signed_in", "added")
    actions_detail: Any = ("reset_second_factor", "unlock")

    @display(description="Last sign-in (UTC)", ordering="last_login")
    def signed_in(self, user: Any) -> str:
        return second(user.last_login)

    @display(description="Added")
    def added(self, user: Any) -> str:
        return second(user.date_joined)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody: with an operator would go what histories say that operator did."""
        return False

    def has_reset_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm("auth.change_user")

    @action(description="Reset second factor", icon="phonelink_erase", permissions=["reset"])
    def reset_second_factor(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def act(user: Any) -> None:
            second_factor.turn_off(user, what="Second factor reset")

        return self.change_one(request, object_id, act, RESETTING)

    @action(description="Unlock sign-in", icon="lock_open", permissions=["reset"])
    def unlock(self, request: HttpRequest, object_id: str) -> HttpResponse:
        def act(user: Any) -> None:
            reset(username=user.get_username())
            record(user, "Sign-in unlocked")

        return self.change_one(request, object_id, act, UNLOCKING)

    def change_one(self, request: HttpRequest, object_id: str, act: Any, words: dict[str, str]) -> HttpResponse:
        user = self.get_object(request, object_id)
        if user is None:
            raise Http404
        return confirmed(self, request, [user], act, back=back_to(self, user), original=user, **words)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        if not change:
            obj.is_staff = True
        super().save_model(request, obj, form, change)


@admin.register(Group)
class OperatorGroupAdmin(LiteralSearch, DjangoGroupAdmin, ModelAdmin):
    pass
