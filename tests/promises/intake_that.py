"""Intake in a process of its own, with one accident: `python -m tests.promises.intake_that WAY [ARGUMENT]`.

Nothing of the product knows of this: the accident is put in from outside, before the ordinary command is run.
"""

import os
import pkgutil
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import django
from django.core.management import call_command
from django.db import OperationalError, connection

INSERT = "snapstate_project.events.intake.insert_events"
COMMIT = "snapstate_project.events.intake.Intake._commit"
MOVE_CURSOR = "snapstate_project.events.relay._move"
FETCH = "checkpoints.record.RecordBatch.fetch"
RECORD = "checkpoints.record.RecordBatch.record"
SETTLE_ALL = "checkpoints.record.RecordBatch.settle"
SETTLE_SHARD = "checkpoints.store.settle"


def before(target: str, accident: Callable[[], object]) -> None:
    original = pkgutil.resolve_name(target)

    def changed(*args: Any, **kwargs: Any) -> Any:
        accident()
        return original(*args, **kwargs)

    patch(target, changed).start()


def after(target: str, accident: Callable[[], object]) -> None:
    original = pkgutil.resolve_name(target)

    def changed(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        accident()
        return result

    patch(target, changed).start()


def every(number: int, accident: Callable[[], object]) -> Callable[[], None]:
    """The accident happens at each call whose count this number divides."""
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1
        if calls % number == 0:
            accident()

    return count


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hear_nothing() -> None:
    """The commit is done, its answer lost."""
    raise OperationalError("the connection was lost while the answer to COMMIT was awaited")


def kill_own_backend() -> None:
    """So near to the commit that it may come before, within or after it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        backend = cursor.fetchone()[0]
    threading.Timer(random.random() * 0.004, os.kill, (backend, signal.SIGKILL)).start()


def wait_for(folder: str) -> None:
    """Say that a batch is read, and go on when told so."""
    Path(folder, "read").touch()
    while not Path(folder, "go").exists():
        time.sleep(0.01)


def take_time(seconds: str) -> None:
    """For each entry of a batch, as a slow machine does."""
    record = pkgutil.resolve_name(RECORD)

    def record_slowly(batch: Any, cursor: Any) -> Any:
        time.sleep(len(batch.entries) * float(seconds))
        return record(batch, cursor)

    patch(RECORD, record_slowly).start()


WAYS: dict[str, Callable[..., None]] = {
    "dies-before-commit": lambda: after(INSERT, die),
    "dies-before-settling": lambda: before(SETTLE_ALL, die),
    "dies-while-settling": lambda: before(SETTLE_SHARD, every(2, die)),
    "dies-in-a-relay": lambda: before(MOVE_CURSOR, die),
    "hears-nothing-of-commits": lambda: after(COMMIT, every(3, hear_nothing)),
    "kills-postgres-in-commits": lambda: after(INSERT, every(4, kill_own_backend)),
    "waits-before-commit": lambda folder: after(FETCH, lambda: wait_for(folder)),
    "is-slow": take_time,
}


def main(way: str, *arguments: str) -> None:
    django.setup()
    WAYS[way](*arguments)
    call_command("intake")


if __name__ == "__main__":
    main(*sys.argv[1:])
