"""Locks between processes for what cannot be one transaction; nothing relies on them to count right."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

KEY = "hashtextextended(%s, 0)"


@contextmanager
def alone(name: str) -> Iterator[bool]:
    """Whether nobody else is at it; if so, nobody else will be before we are done."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_try_advisory_lock({KEY})", [name])
        taken: bool = cursor.fetchone()[0]
    try:
        yield taken
    finally:
        if taken:
            unlock(name)


@contextmanager
def one_by_one(name: str) -> Iterator[None]:
    """Waits for whoever is at it."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_lock({KEY})", [name])
    try:
        yield
    finally:
        unlock(name)


def unlock(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_advisory_unlock({KEY})", [name])
