"""The wiring as a Django app: it brings the checks of the whole and the pieces of the OpenAPI document."""

from importlib import import_module

from django.apps import AppConfig
from django.core.signals import request_finished
from django.db import connections


class WiringConfig(AppConfig):
    name = "snapstate_project"
    label = "wiring"

    def ready(self) -> None:
        import_module("snapstate_project.checks")
        import_module("snapstate_project.common.openapi")
        import_module("snapstate_project.common.structs")
        request_finished.connect(close_connections)


def close_connections(**_kwargs: object) -> None:
    """Django's own handler gives each request a thread that ends with it: a connection kept there would leak."""
    connections.close_all()
