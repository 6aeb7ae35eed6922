"""The room of agents: who is registered, and when each was last seen."""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks


class AgentsConfig(AppConfig):
    name = "agents_app"
    label = "agents"
    verbose_name = "Agents"

    def ready(self) -> None:
        checks.register(check_settings)


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    if settings.MAX_AGENTS_PER_ACCOUNT >= 1:
        return []
    return [checks.Error("MAX_AGENTS_PER_ACCOUNT must be at least 1.", id="agents.max_agents_per_account")]
