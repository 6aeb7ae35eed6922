"""The room of webhooks: endpoints, and what is delivered to them. Brings the checks of its settings."""

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.utils.module_loading import import_string


class WebhooksConfig(AppConfig):
    name = "webhooks"
    verbose_name = "Webhooks"

    def ready(self) -> None:
        checks.register(check_settings)


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    return [checks.Error(fault, id="webhooks.E001") for fault in faults()]


def faults() -> Iterator[str]:
    for network in settings.WEBHOOK_PRIVATE_NETWORKS:
        try:
            ip_network(network)
        except ValueError as error:
            yield f"WEBHOOK_PRIVATE_NETWORKS: {error}."
    try:
        import_string(settings.WEBHOOK_RESOLVER)
    except ImportError as error:
        yield f"WEBHOOK_RESOLVER: {error}."
