"""What operators fill in on the admin's own pages; the services decide, these only ask."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import RegexValidator
from django.forms.models import model_to_dict
from django.utils import timezone
from django.utils.module_loading import import_string
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminEmailInputWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from accounts.closing import GRACE_DAYS, MOST_GRACE_DAYS
from accounts.keys import SCOPES
from accounts.models import MOST_DAYS, MOST_KEPT, PLAN_SHAPE, PLAN_TOLD, Account

HISTORY = ("keep_last", "archive_days")
EXPIRIES = {"": "Never", "1": "In a day", "7": "In 7 days", "30": "In 30 days", "90": "In 90 days", "365": "In a year"}


class ScopesField(forms.MultipleChoiceField):
    def __init__(self) -> None:
        super().__init__(
            choices=[(scope, scope) for scope in SCOPES],
            widget=UnfoldAdminCheckboxSelectMultipleWidget,
            required=False,
            help_text="A key without any may only ask for its usage.",
        )


class NewAccountForm(forms.Form):
    email = forms.EmailField(max_length=254, widget=UnfoldAdminEmailInputWidget)
    name = forms.CharField(max_length=200, required=False, widget=UnfoldAdminTextInputWidget)

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        if Account.objects.filter(email=email.lower()).exists():
            raise forms.ValidationError("Another account has this email address.")
        return email


class NewKeyForm(forms.Form):
    label = forms.CharField(
        max_length=100, required=False, widget=UnfoldAdminTextInputWidget, help_text="What the key is for."
    )
    scopes = ScopesField()
    expires = forms.ChoiceField(choices=list(EXPIRIES.items()), required=False, widget=UnfoldAdminSelectWidget)
    ticket = forms.CharField(required=False, widget=forms.HiddenInput)

    @property
    def wanted(self) -> dict[str, Any]:
        """As services.issue_key takes it."""
        return {
            "label": self.cleaned_data["label"],
            "scopes": self.cleaned_data["scopes"],
            "expires_at": expiry(self.cleaned_data["expires"]),
        }


class TermsForm(forms.Form):
    """Of what it shows only that is written which was changed in it: another operator may be at the rest.

    To keep less than before deletes, so the form asks once more, and says how much.
    """

    plan = forms.CharField(
        show_hidden_initial=True,
        max_length=40,
        widget=UnfoldAdminTextInputWidget,
        validators=[RegexValidator(PLAN_SHAPE, f"It {PLAN_TOLD}.")],
    )
    rate_limit_max = forms.IntegerField(
        label="Rate limit",
        show_hidden_initial=True,
        min_value=1,
        max_value=1_000_000_000,
        required=False,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Calls per key and window; empty: the standard limit.",
    )
    keep_last = forms.IntegerField(
        label="Checkpoints kept",
        show_hidden_initial=True,
        min_value=1,
        max_value=MOST_KEPT,
        required=False,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Newest checkpoints kept of a workflow that says nothing itself, the rest deleted; empty: all.",
    )
    archive_days = forms.IntegerField(
        label="Days in the archive",
        show_hidden_initial=True,
        min_value=1,
        max_value=MOST_DAYS,
        required=False,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Archived checkpoints are deleted after so many days; empty: never.",
    )
    told = forms.CharField(required=False, widget=forms.HiddenInput)
    sure = forms.BooleanField(label="Delete them for good", required=False, widget=UnfoldBooleanWidget)

    def __init__(self, account: Account, data: Any, *, may_limit_history: bool) -> None:
        super().__init__(data, initial=model_to_dict(account, fields=list(self.base_fields)))
        self.account = account
        for name in () if may_limit_history else HISTORY:
            del self.fields[name]
        if data is None:
            del self.fields["sure"], self.fields["told"]

    def clean(self) -> dict[str, Any]:
        fewer = {name: self.shortened(name) for name in HISTORY}
        asked = " ".join(f"{name}={value}" for name, value in fewer.items())
        if not any(fewer.values()):
            del self.fields["sure"], self.fields["told"]
        elif not self.cleaned_data.get("sure") or self.cleaned_data.get("told") != asked:
            going = " and ".join(import_string(settings.HISTORY_BEYOND)(self.account.pk, **fewer))
            self.add_error("sure", f"At most {going} would go with the next pass, within ten minutes.")
            sent = {name: self.data.get(name) for name in self.data}
            self.data = {**sent, "told": asked, "sure": ""}  # a yes is one to these figures
        return self.cleaned_data

    def shortened(self, name: str) -> int | None:
        """What it is to be, where that keeps less than now."""
        wanted, now = self.changes.get(name), getattr(self.account, name)
        return wanted if wanted is not None and (now is None or wanted < now) else None

    @property
    def changes(self) -> dict[str, Any]:
        return {name: self.cleaned_data.get(name) for name in self.changed_data if name not in ("sure", "told")}

    def said(self) -> str:
        """For the history."""
        return ", ".join(
            f"{self.fields[name].label or name}: {'none' if value is None else value}"
            for name, value in self.changes.items()
        )


class ScopesForm(forms.Form):
    scopes = ScopesField()


class ReasonForm(forms.Form):
    """Why; the account's page and the audit log say it on."""

    reason = forms.CharField(max_length=300, widget=UnfoldAdminTextInputWidget)


class MaybeReasonForm(ReasonForm):
    reason = forms.CharField(max_length=300, required=False, widget=UnfoldAdminTextInputWidget)


class DeletionForm(forms.Form):
    reason = forms.CharField(max_length=200, widget=UnfoldAdminTextInputWidget)
    days = forms.IntegerField(
        label="Days until then",
        min_value=1,
        max_value=MOST_GRACE_DAYS,
        initial=GRACE_DAYS,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Until then the deletion can be undone; afterwards nothing can.",
    )


def expiry(days: str) -> datetime | None:
    return timezone.now() + timedelta(days=int(days)) if days else None
