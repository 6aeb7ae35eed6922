"""The wiring as a Django app: it brings the checks of the whole and the pieces of the OpenAPI document."""

from importlib import import_module

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig
from django.contrib.auth.signals import user_logged_in
from django.core.signals import request_finished
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created


class OperatorsConfig(AdminConfig):
    """Django's admin behind our own gate."""

    default_site = "snapstate_project.operator_site.OperatorSite"


class WiringConfig(AppConfig):
    name = "snapstate_project"
    label = "wiring"

    def ready(self) -> None:
        import_module("snapstate_project.checks")
        import_module("snapstate_project.common.openapi")
        import_module("snapstate_project.common.structs")
        import_module("snapstate_project.audit").watch()
        user_logged_in.connect(import_module("snapstate_project.operator_site").begin_session, dispatch_uid="session")
        request_finished.connect(close_connections)
        connection_created.connect(notice_vanishing)


def close_connections(**_kwargs: object) -> None:
    """Django's own handler gives each request a thread that ends with it: a connection kept there would leak."""
    connections.close_all()


def notice_vanishing(connection: BaseDatabaseWrapper, **_kwargs: object) -> None:
    """Postgres would keep the locks of a process whose machine is gone for hours: it is to ask after them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('tcp_keepalives_idle', '5', false), set_config('tcp_keepalives_interval', '2', false),"
            " set_config('tcp_keepalives_count', '3', false)"
        )
