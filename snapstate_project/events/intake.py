"""Redis → Postgres: read the queue from its start, one transaction a batch, settle only after its commit."""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

import structlog
from django.conf import settings
from django.db import Error, connection, transaction
from django.utils.module_loading import import_string

from snapstate_project.common.errors import RedisDown
from snapstate_project.events import queue
from snapstate_project.events.queue import SHARDS, QueueEntry, State
from snapstate_project.events.recording import EventRow, insert_events

SHARD_LOCK = 0x534E4150
BATCH_BYTES = 48 * 1_048_576
BATCH_ENTRIES = 2_000
FIRST_BATCH_ENTRIES = 250
LONGEST_BATCH_SECONDS = 1.0
PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0
BEHIND_AFTER = 2 * queue.MICROSECONDS
PACED_AFTER = 500_000
PACE = 0.02
LONGEST_PACE = 50_000
STATE_EVERY_SECONDS = 0.5

log = structlog.get_logger(__name__)


class Batch(Protocol):
    """What the room that owns the records does with queue entries (settings.INTAKE_BATCH)."""

    def __init__(self, entries: Sequence[QueueEntry]) -> None: ...

    def fetch(self) -> None:
        """Read from Redis what the entries point at."""

    def record(self, cursor: Any) -> list[EventRow]:
        """Write the rows, inside the batch's transaction; the events to insert last."""

    def settle(self) -> None:
        """After the commit: take the entries off the queue."""


class NotOurs(Exception):
    """Another intake holds the lock of a shard in this batch."""


class Intake:
    """Takes the queues of the shards whose locks its database session holds."""

    def __init__(self) -> None:
        self.batch_type: type[Batch] = import_string(settings.INTAKE_BATCH)
        self.session: Any = None
        self.shards: set[int] = set()
        self.states: dict[int, State] = {}
        self.told_at = 0.0
        self.busy_shards = 1
        self.more = False
        self.most = FIRST_BATCH_ENTRIES

    def cycle(self) -> int:
        """One batch; how many entries it took."""
        began = time.monotonic()
        self._claim_shards()
        entries, now = self._read()
        self._note_lag(entries, now)
        chosen = _bounded(entries, self.most)
        if chosen:
            batch = self.batch_type(chosen)
            batch.fetch()
            self._commit(batch, {entry.shard for entry in chosen})
            batch.settle()
        self._tell(now)
        self._pace(len(chosen), time.monotonic() - began)
        return len(chosen)

    def _read(self) -> tuple[list[QueueEntry], int]:
        """The batch's worth of entries, shared among the shards that had some the last time."""
        each = max(1, self.most // self.busy_shards)
        entries, now = queue.read(sorted(self.shards), each)
        counts = Counter(entry.shard for entry in entries)
        self.busy_shards = max(1, len(counts))
        self.more = len(entries) > self.most or max(counts.values(), default=0) >= each
        return entries, now

    def _claim_shards(self) -> None:
        connection.ensure_connection()
        if self.session is not connection.connection:
            self.session, self.shards = connection.connection, set()
        missing = sorted(set(range(SHARDS)) - self.shards)
        if missing:
            self.shards |= _locked("pg_try_advisory_lock", missing)

    def _commit(self, batch: Batch, shards: set[int]) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            if _locked("pg_try_advisory_xact_lock", sorted(shards)) != shards:
                self.shards = set()
                raise NotOurs
            insert_events(cursor, batch.record(cursor))

    def _note_lag(self, entries: list[QueueEntry], now: int) -> None:
        oldest: dict[int, int] = {}
        for entry in entries:
            oldest.setdefault(entry.shard, entry.written_at)
        for shard in self.shards:
            lag = now - oldest.get(shard, now)
            since = self.states.get(shard, State()).behind or now
            self.states[shard] = State(since if lag > BEHIND_AFTER else 0, pace_for(lag))

    def _tell(self, now: int) -> None:
        """A Redis that is full cannot be told, and goes on being emptied."""
        if time.monotonic() - self.told_at > STATE_EVERY_SECONDS:
            self.told_at = time.monotonic()
            with contextlib.suppress(RedisDown):
                queue.note_state(now, {shard: self.states.get(shard, State()) for shard in self.shards})

    def _pace(self, taken: int, seconds: float) -> None:
        """However slow Postgres is, no batch takes long: saves must hear how intake is, or they take it for dead."""
        if taken and seconds > LONGEST_BATCH_SECONDS:
            self.most = max(1, int(taken * LONGEST_BATCH_SECONDS / seconds))
        elif self.more:
            self.most = min(2 * self.most, BATCH_ENTRIES)

    def step_down(self) -> None:
        """While Postgres is away nothing is taken, and saves must not be held back for it."""
        queue.note_state(0, dict.fromkeys(self.shards or range(SHARDS), State()))
        self.states = {}

    def release(self) -> None:
        """Let others take these shards; what we said of them does not hold back saves until they do."""
        self.step_down()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock_all()")
        self.shards = set()


def pace_for(lag: int) -> int:
    """What a save waits before it is answered, both in µs: 20 ms for each second that intake lags beyond half of
    one, so that who saves without a pause slows down long before anybody is refused."""
    return min(LONGEST_PACE, max(0, int((lag - PACED_AFTER) * PACE)))


def _locked(function: str, shards: list[int]) -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT shard FROM unnest(%s::int[]) AS shard WHERE {function}(%s, shard)",  # noqa: S608
            [shards, SHARD_LOCK],
        )
        return {row[0] for row in cursor.fetchall()}


def _bounded(entries: list[QueueEntry], most: int) -> list[QueueEntry]:
    """As many as one transaction should carry, every shard in turn getting its oldest first."""
    chosen: list[QueueEntry] = []
    room = BATCH_BYTES
    for entry in sorted(entries, key=lambda entry: entry.written_at):
        room -= int(entry.fields.get(b"z", b"0"))
        if chosen and (room < 0 or len(chosen) >= most):
            break
        chosen.append(entry)
    return chosen


def run(stop: threading.Event) -> None:
    """Take batches until `stop` is set; the batch under way is finished first."""
    intake, pause = Intake(), 0.0
    while not stop.wait(pause):
        try:
            intake.cycle()
            pause = 0.0 if intake.more else PAUSE_SECONDS
        except (Error, RedisDown, NotOurs) as error:
            log.warning("intake_interrupted", error=repr(error))
            pause = min(max(2 * pause, PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
            _stand_back(intake)
        except Exception:
            log.exception("intake_failed")
            pause = min(max(2 * pause, 1.0), LONGEST_PAUSE_SECONDS)
            _stand_back(intake)
    _stand_back(intake)


def _stand_back(intake: Intake) -> None:
    """Whoever takes nothing holds no connection, and holds back no saves."""
    connection.close()
    try:
        intake.step_down()
    except RedisDown:
        log.warning("intake_without_redis")
    except Exception:
        log.exception("intake_cannot_step_down")


def drain() -> int:
    """Take everything there is now, in this thread; how many entries that was."""
    intake, total = Intake(), 0
    while taken := intake.cycle():
        total += taken
    intake.release()
    return total
