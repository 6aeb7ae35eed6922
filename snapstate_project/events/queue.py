"""The Redis side of events: one stream a shard, read from its start; only what is settled is ever deleted."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from snapstate_project.common import redis

SHARDS = 16
MICROSECONDS = 1_000_000
SEPARATOR = "\x1f"
"""Between the parts of an event, name and value in turn; no name that a client gives holds a control character."""


class QueueEntry(NamedTuple):
    """One entry: where it stands in which shard's stream, and the event's fields as the scripts wrote them."""

    shard: int
    id: bytes
    fields: dict[bytes, bytes]

    @property
    def written_at(self) -> int:
        """Microseconds since the epoch, by the server's clock, to the millisecond."""
        return int(self.id.split(b"-")[0]) * 1000

    @property
    def uid(self) -> bytes:
        """Sixteen bytes that make the event itself."""
        return bytes.fromhex(self.fields[b"u"].decode())


def stream(shard: int) -> str:
    return f"events:{{{shard:02d}}}"


def read(shards: Iterable[int], count: int) -> tuple[list[QueueEntry], int]:
    """At most `count` entries of each shard, oldest first, and the server's time in microseconds."""
    wanted = list(shards)
    with redis.outages_as_ours(), redis.client().pipeline(transaction=False) as pipe:
        pipe.time()
        for shard in wanted:
            pipe.xrange(stream(shard), count=count)
        (seconds, micros), *streams = pipe.execute()
    entries = [
        QueueEntry(shard, entry_id, _event_in(fields))
        for shard, found in zip(wanted, streams, strict=True)
        for entry_id, fields in found
    ]
    return entries, seconds * MICROSECONDS + micros


def _event_in(fields: Any) -> dict[bytes, bytes]:
    """redis-py gives an entry's fields as a mapping or flat."""
    mapping = fields if isinstance(fields, dict) else dict(zip(fields[::2], fields[1::2], strict=True))
    if b"t" in mapping:  # of a process that is not updated yet: each name a field, the uid as it is
        return mapping | {b"u": mapping[b"u"].hex().encode()}
    parts = mapping[b"e"].split(SEPARATOR.encode())
    return dict(zip(parts[::2], parts[1::2], strict=True))


class State(NamedTuple):
    """How intake is with one shard: since when it has been behind (0: not), and what a save is to wait; both in µs."""

    behind: int = 0
    pace: int = 0


def note_state(alive: int, states: Mapping[int, State]) -> None:
    """Tell saves how intake is, shard by shard, and when it was last well."""
    with redis.outages_as_ours(), redis.client().pipeline(transaction=False) as pipe:
        for shard, state in states.items():
            pipe.hset(f"intake:{{{shard:02d}}}", mapping={"alive": alive, "behind": state.behind, "pace": state.pace})
        pipe.execute()


def lag_seconds() -> float:
    """The age of the oldest entry that intake has not taken, over all shards."""
    entries, now = read(range(SHARDS), 1)
    return max((now - entry.written_at for entry in entries), default=0) / MICROSECONDS


class Figures(NamedTuple):
    """How the queue is. `intake_well_at`: of the shard looked after worst, in seconds; 0 when that is not at all."""

    waiting: int
    lag_seconds: float
    intake_well_at: float
    memory_used: int
    memory_limit: int


def figures() -> Figures:
    """In two round trips; their cost does not grow with the queue."""
    shards = range(SHARDS)
    with redis.outages_as_ours(), redis.client().pipeline(transaction=False) as pipe:
        pipe.info("memory")
        for shard in shards:
            pipe.xlen(stream(shard))
        for shard in shards:
            pipe.hget(f"intake:{{{shard:02d}}}", "alive")
        memory, *found = pipe.execute()
    return Figures(
        waiting=sum(found[:SHARDS]),
        lag_seconds=lag_seconds(),
        intake_well_at=min(int(alive or 0) for alive in found[SHARDS:]) / MICROSECONDS,
        memory_used=memory["used_memory"],
        memory_limit=memory["maxmemory"],
    )
