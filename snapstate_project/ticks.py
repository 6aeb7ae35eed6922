"""What beat should have had done and has not, the worker does itself: beat, or the broker, may be away for long.

When a watched task of beat's was last begun stands in the cache, for all workers and for /metrics; how each task of the
schedule went the last time stands there too, for operators.
"""

import time
from collections.abc import Callable

import msgspec
import structlog
from django.conf import settings
from django.core.cache import cache
from django.db import close_old_connections

from checkpoints import archiving, erasing

PERIOD_SECONDS = 60.0
PERIODS_OF_PATIENCE = 2
SLICE_SECONDS = 5.0
SLICE = 100
LONGEST_SAID = 500

log = structlog.get_logger(__name__)

WATCHED: dict[str, Callable[[], object]] = {
    "checkpoints.archive_expiring": lambda: archiving.archive_expiring(seconds=SLICE_SECONDS),
    "checkpoints.finish_erasures": lambda: erasing.finish_erasures(limit=SLICE),
}


def key(task: str) -> str:
    return f"tick:{task}"


def note(task: str, *, now: float | None = None) -> None:
    """A watched task begins; others are not of interest."""
    if task in WATCHED:
        cache.set(key(task), time.time() if now is None else now, timeout=None)


def last_ticks() -> dict[str, float]:
    """When each was last begun, in seconds since the epoch; 0 when that is not known."""
    found = cache.get_many([key(task) for task in WATCHED])
    return {task: float(found.get(key(task), 0.0)) for task in WATCHED}


class Run(msgspec.Struct):
    """How a task of the schedule went the last time it ended; times in seconds since the epoch."""

    task: str
    ended_at: float
    seconds: float
    failed: bool = False
    error: str = ""


def note_run(task: str, *, seconds: float, error: BaseException | None = None, now: float | None = None) -> None:
    """Only of what beat has done again and again."""
    if task in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}:
        said = f"{type(error).__name__}: {error}"[:LONGEST_SAID] if error else ""
        run = Run(task, time.time() if now is None else now, round(seconds, 3), error is not None, said)
        cache.set(f"run:{task}", msgspec.json.encode(run), timeout=None)


def last_runs() -> dict[str, Run]:
    """Those that are known; a store that has lost its keys knows none until they have run again."""
    tasks = [entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()]
    found = cache.get_many([f"run:{task}" for task in tasks])
    return {name.removeprefix("run:"): msgspec.json.decode(run, type=Run) for name, run in found.items()}


def overdue(now: float, since: float) -> list[str]:
    """Those that nobody has begun for two periods. A worker that has only just begun itself waits as long."""
    patience = PERIODS_OF_PATIENCE * PERIOD_SECONDS
    return [task for task, at in last_ticks().items() if now - max(at, since) > patience]


def work_if_overdue(now: float, since: float) -> list[str]:
    """One slice of each; which. Where several workers wake at once they share the work, as with beat."""
    close_old_connections()
    try:
        late = overdue(now, since)
        for task in late:
            log.warning("no_tick", task=task)
            WATCHED[task]()
        return late
    finally:
        close_old_connections()
