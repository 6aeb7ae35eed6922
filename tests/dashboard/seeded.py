"""A database of its own for a demo: the others' tests keep theirs as it is, and it is dropped in the end."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from django.core.management import call_command
from django.db import connections

from snapstate_project.events import intake
from tests.environment import TEMPLATE_URL, administer

LEAVE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'"
"""The live server's threads keep their connections: these end, and the next ones are to the demo."""


@contextmanager
def demo(**wanted: int) -> Iterator[None]:
    """Everything in this process, the live server's threads too, works on a database with this demo meanwhile.

    What waits in Redis goes to the database whose accounts it is of, before each turn from one to the other.
    """
    url, name = os.environ["DATABASE_URL"], f"snapstate_tests_{os.getpid()}_demo"
    migrated = os.environ[TEMPLATE_URL] != url  # a worker of pytest-xdist has a copy: in the template itself is nobody
    administer(url, f"CREATE DATABASE {name} TEMPLATE {name_in(os.environ[TEMPLATE_URL]) if migrated else 'template0'}")
    try:
        intake.drain()
        switch_to(name)
        administer(url, LEAVE.format(name_in(url)))
        if not migrated:
            call_command("migrate", verbosity=0)
        call_command("seed_demo", **wanted)
        yield
        intake.drain()
    finally:
        switch_to(name_in(url))
        administer(url, f"DROP DATABASE {name} WITH (FORCE)")


def name_in(url: str) -> str:
    return urlsplit(url).path.lstrip("/")


def switch_to(name: str) -> None:
    connections.settings["default"]["NAME"] = name
    connections.close_all()
