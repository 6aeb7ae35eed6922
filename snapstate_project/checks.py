"""A wrong value stops the start, not a request."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ImproperlyConfigured

SHORTEST_SECRET = 8


def weak_secrets() -> list[str]:
    """The names of secrets that nobody has set, or that are none; in development they need not be."""
    if settings.DEBUG:
        return []
    secrets = {"DJANGO_SECRET_KEY": settings.SECRET_KEY, "ADMIN_SECRET": settings.ADMIN_SECRET}
    return [name for name, value in secrets.items() if value.startswith("insecure-") or len(value) < SHORTEST_SECRET]


def sentence(name: str) -> str:
    return f"{name} must be a secret of your own, of at least {SHORTEST_SECRET} characters, while DEBUG is off"


@register()
def secrets_are_set(app_configs: Sequence[AppConfig] | None, **_kwargs: Any) -> list[CheckMessage]:  # noqa: ARG001 (Django names it)
    return [Error(sentence(name), id=f"snapstate.{name.lower()}") for name in weak_secrets()]


def refuse_default_secrets() -> None:
    if names := weak_secrets():
        raise ImproperlyConfigured("; ".join(sentence(name) for name in names))
