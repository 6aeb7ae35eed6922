"""A database of its own for a demo: the others' tests keep theirs as it is, and it is dropped in the end."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from django.core.management import call_command
from django.db import connections

from tests.environment import administer

LEAVE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'"
"""The live server's threads keep their connections: these end, and the next ones are to the demo."""


@contextmanager
def demo(**wanted: int) -> Iterator[None]:
    """Everything in this process, the live server's threads too, works on a database with this demo meanwhile."""
    url, name = os.environ["DATABASE_URL"], f"snapstate_tests_{os.getpid()}_demo"
    administer(url, f"CREATE DATABASE {name} TEMPLATE template0")
    try:
        switch_to(name)
        administer(url, LEAVE.format(urlsplit(url).path.lstrip("/")))
        call_command("migrate", verbosity=0)
        call_command("seed_demo", **wanted)
        yield
    finally:
        switch_to(urlsplit(url).path.lstrip("/"))
        administer(url, f"DROP DATABASE {name} WITH (FORCE)")


def switch_to(name: str) -> None:
    connections.settings["default"]["NAME"] = name
    connections.close_all()
