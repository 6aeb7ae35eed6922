"""Django's own migrate, one at a time: of two releases that start at once the second waits, and then finds it done."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.commands import migrate
from django.db import connections

RELEASE_LOCK = 0x534E4150_52454C45
ASK_EVERY_SECONDS = 0.2


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        if options["plan"] or options["check_unapplied"]:
            super().handle(*args, **options)
            return
        with self.alone(options["database"]):
            super().handle(*args, **options)

    @contextmanager
    def alone(self, alias: str) -> Iterator[None]:
        """Holds a lock in a session of its own, whatever a migration does to its connection.

        It asks for the lock again and again rather than waiting in it: a session that waits in a statement would hold
        up another's CREATE INDEX CONCURRENTLY for ever.
        """
        connection = connections[alias].copy()
        try:
            with connection.cursor() as cursor:
                self.take_lock(cursor)
                yield
        finally:
            connection.close()

    def take_lock(self, cursor: Any) -> None:
        told = False
        while True:
            cursor.execute("SELECT pg_try_advisory_lock(%s)", [RELEASE_LOCK])
            if cursor.fetchone()[0]:
                return
            if not told:
                self.stdout.write("Another release is migrating: waiting for it to end.")
                told = True
            time.sleep(ASK_EVERY_SECONDS)
