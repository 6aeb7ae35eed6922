"""What operators fill in about webhooks: why one is disabled, and which time is to be sent again."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from unfold.widgets import UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from webhooks.models import KEPT

MOMENT = "%Y-%m-%dT%H:%M"


class ReasonForm(forms.Form):
    reason = forms.CharField(max_length=200, help_text="Its owner is told.", widget=UnfoldAdminTextInputWidget())


class MomentField(forms.DateTimeField):
    """A minute in UTC."""

    def __init__(self, **options: Any) -> None:
        widget = UnfoldAdminTextInputWidget(attrs={"type": "datetime-local"})
        super().__init__(input_formats=[MOMENT, f"{MOMENT}:%S"], widget=widget, **options)

    def prepare_value(self, value: Any) -> Any:
        return value.astimezone(UTC).strftime(MOMENT) if isinstance(value, datetime) else value


class WindowForm(forms.Form):
    since = MomentField(label="Queued from (UTC)", initial=lambda: timezone.now() - timedelta(hours=24))
    until = MomentField(label="Until (UTC)", initial=lambda: timezone.now() + timedelta(minutes=1))
    failed_only = forms.BooleanField(
        required=False,
        initial=True,
        label="Only what has failed",
        help_text="Otherwise what was delivered goes out once more too, under the same ids.",
        widget=UnfoldBooleanSwitchWidget(),
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            raise forms.ValidationError("The time ends before it begins.")
        if until and until < timezone.now() - KEPT:
            raise forms.ValidationError(f"Deliveries are kept for {KEPT.days} days: there are none of that time.")
        return cleaned

    def said(self) -> str:
        which = "failed ones" if self.cleaned_data["failed_only"] else "all"
        return f"{which} queued from {self.cleaned_data['since']:{MOMENT}} to {self.cleaned_data['until']:{MOMENT}}"
