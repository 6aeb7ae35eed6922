"""The room of analytics: what was done, counted from events, and the reports on it."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.utils.module_loading import import_string


class AnalyticsConfig(AppConfig):
    name = "analytics"
    verbose_name = "Analytics"


@register()
def agents_can_be_asked(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:  # noqa: ARG001
    try:
        import_string(settings.KNOWN_AGENTS)
    except ImportError as error:
        return [Error(f"KNOWN_AGENTS: {error}.", id="analytics.known_agents")]
    return []
