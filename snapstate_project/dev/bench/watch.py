"""What Redis and Postgres tell of the work in the background: how far behind it is, and when all of it is done."""

import time
from dataclasses import dataclass
from typing import Any

import psycopg
import redis

from checkpoints.ids import SHARDS
from snapstate_project.dev.process import wait_until

PATIENCE_SECONDS = 60.0
SUBSCRIBERS_LAG = """
    SELECT coalesce(max(extract(epoch FROM now() - first.at)), 0) FROM events_subscribercursor c
    CROSS JOIN LATERAL (SELECT at FROM events_event WHERE id > c.position ORDER BY id LIMIT 1) first
"""
SUBSCRIBERS_BEHIND = """
    SELECT EXISTS (SELECT FROM events_subscribercursor c JOIN events_event e ON e.id > c.position)
"""


class NeverDone(Exception):
    """Background work that does not come to an end."""


@dataclass
class Watch:
    redis: redis.Redis
    sql: "psycopg.Connection[Any]"

    def drain(self) -> float:
        """Wait until intake has taken everything and every subscriber has heard of it; the seconds it took."""
        began = time.monotonic()
        if not wait_until(lambda: not self.waiting() and not self.unheard(), seconds=PATIENCE_SECONDS):
            raise NeverDone(f"{self.waiting()} events still wait for intake after {PATIENCE_SECONDS:.0f} seconds")
        return time.monotonic() - began

    def waiting(self) -> int:
        """How many events intake has not taken."""
        with self.redis.pipeline(transaction=False) as pipe:
            for shard in range(SHARDS):
                pipe.xlen(f"events:{{{shard:02d}}}")
            return sum(pipe.execute())

    def unheard(self) -> bool:
        return bool(self.one(SUBSCRIBERS_BEHIND))

    def intake_lag(self) -> float:
        """Seconds since the oldest event was written that intake has not taken."""
        with self.redis.pipeline(transaction=False) as pipe:
            pipe.time()
            for shard in range(SHARDS):
                pipe.xrange(f"events:{{{shard:02d}}}", count=1)
            (seconds, micros), *oldest = pipe.execute()
        written = [int(entries[0][0].split(b"-")[0]) / 1000 for entries in oldest if entries]
        return max(0.0, float(seconds) + micros / 1e6 - min(written)) if written else 0.0

    def subscribers_lag(self) -> float:
        """The age of the oldest event that some subscriber has not heard of."""
        return float(self.one(SUBSCRIBERS_LAG))

    def events(self) -> int:
        return int(self.one("SELECT count(*) FROM events_event"))

    def heads(self) -> list[bytes]:
        """The keys of all workflows' heads."""
        return list(self.redis.scan_iter("wf:*:head", count=1_000))

    def hot_bytes(self, head: bytes) -> int:
        """What one workflow takes in Redis, all of its keys together."""
        name = head.removesuffix(b"head")
        sizes = [self.redis.memory_usage(name + part, samples=0) for part in (b"head", b"log", b"steps")]
        return sum(size or 0 for size in sizes)

    def one(self, query: str) -> Any:
        row = self.sql.execute(query.encode()).fetchone()
        return row[0] if row else None
