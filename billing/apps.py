"""The billing app: what accounts use, what that costs, and who is told. Brings the checks of its settings."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register  # noqa: A004 (Django's own name of it)
from django.utils.module_loading import import_string

SEAMS = ("STORAGE_HELD", "STORAGE_HELD_BY_ACCOUNT")


class BillingConfig(AppConfig):
    name = "billing"
    verbose_name = "Billing"


@register()
def settings_make_sense(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:  # noqa: ARG001
    found: list[CheckMessage] = []
    for name in SEAMS:
        try:
            import_string(getattr(settings, name))
        except ImportError as error:
            found.append(Error(f"{name}: {error}.", id=f"billing.{name.lower()}"))
    base = urlsplit(settings.STRIPE_API_BASE)
    if base.scheme not in ("http", "https") or not base.hostname:
        found.append(Error("STRIPE_API_BASE must be an http or https address.", id="billing.stripe_api_base"))
    if settings.STRIPE_SECRET_KEY and not settings.STRIPE_WEBHOOK_SECRET:
        message = "Without STRIPE_WEBHOOK_SECRET no invoice is mirrored, and an unpaid subscription is not felt."
        found.append(Warning(message, id="billing.stripe_webhook_secret"))
    return found
