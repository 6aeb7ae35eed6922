"""The wiring as a Django app: it brings the checks of the whole and the pieces of the OpenAPI document."""

from importlib import import_module

from django.apps import AppConfig


class WiringConfig(AppConfig):
    name = "snapstate_project"
    label = "wiring"

    def ready(self) -> None:
        import_module("snapstate_project.checks")
        import_module("snapstate_project.common.openapi")
