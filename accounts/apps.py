"""The floor: who is calling, and may they. Brings the checks of its settings and the operators' groups."""

import re
from collections.abc import Sequence
from typing import Any

from auditlog.context import disable_auditlog
from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.db.models.signals import post_migrate
from django.utils.module_loading import import_string

from accounts.roles import ROLES

PREFIX = re.compile(r"[A-Za-z0-9_]{1,12}")
LEAST = {"RATE_LIMIT_MAX": 1, "RATE_LIMIT_WINDOW_MS": 1000, "MAX_API_KEYS_PER_ACCOUNT": 1}


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = "Accounts"

    def ready(self) -> None:
        post_migrate.connect(grant_to_groups, dispatch_uid="accounts.groups")


@register()
def settings_make_sense(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:  # noqa: ARG001
    errors: list[CheckMessage] = [
        Error(f"{name} must be at least {least}.", id=f"accounts.{name.lower()}")
        for name, least in LEAST.items()
        if getattr(settings, name) < least
    ]
    if not PREFIX.fullmatch(settings.API_KEY_PREFIX):
        message = "API_KEY_PREFIX must be 1 to 12 letters, digits and underscores."
        errors.append(Error(message, id="accounts.api_key_prefix"))
    try:
        import_string(settings.ACCOUNT_USAGE)
    except ImportError as error:
        errors.append(Error(f"ACCOUNT_USAGE: {error}.", id="accounts.account_usage"))
    return errors


def grant_to_groups(app_config: AppConfig, using: str, apps: Any, **_: Any) -> None:
    """After each app's migrations: every group of `roles` has, of this app, what its name says and no more."""
    try:
        group_model, permission_model = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    except LookupError:
        return  # auth itself is being unmigrated
    found = permission_model.objects.using(using).filter(content_type__app_label=app_config.label)
    of_app = {f"{app_config.label}.{permission.codename}": permission for permission in found}
    with disable_auditlog():  # nobody's change, and the log's own table may not be there yet
        for name, may in ROLES.items():
            group, _ = group_model.objects.using(using).get_or_create(name=name)
            group.permissions.add(*(permission for label, permission in of_app.items() if may(label)))
            group.permissions.remove(*(permission for label, permission in of_app.items() if not may(label)))
