"""What a checkpoint takes: recorded runs saved again and again through the API, then weighed in both servers."""

from dataclasses import asdict, dataclass
from typing import Any

from snapstate_project.dev.bench.requests import OURS
from snapstate_project.dev.bench.slices import Order
from snapstate_project.dev.bench.stage import Stage, say

TABLES = ("checkpoints_checkpoint", "checkpoints_workflow")
CONNECTIONS = 8


@dataclass(frozen=True)
class Storage:
    """In bytes, after VACUUM FULL and with indexes: `history` is the table of checkpoints, `projections` of workflows.

    `hot` is what Redis holds of these workflows; `short` and `long` what it holds of one after 40 and 1,000 saves.
    """

    checkpoints: int
    workflows: int
    raw: int
    history: int
    projections: int
    hot: int
    hot_checkpoints: int
    short: int
    long: int
    failures: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"times_smaller": self.times_smaller}

    @property
    def times_smaller(self) -> float:
        return self.raw / (self.history + self.projections)


def weigh(stage: Stage) -> Storage:
    stage.clean()
    say("  storage: recorded runs, again and again")
    result = stage.workers[OURS].run(Order(OURS, "record", "", 600.0, CONNECTIONS))
    stage.watch.drain()
    for table in TABLES:
        stage.watch.sql.execute(f"VACUUM (FULL, ANALYZE) {table}".encode())
    history, projections = (stage.watch.one(f"SELECT pg_total_relation_size('{table}')") for table in TABLES)
    checkpoints, raw = counted(stage)
    heads = stage.watch.heads()
    held = sum(stage.watch.redis.xlen(log_of(head)) for head in heads)
    hot = sum(map(stage.watch.hot_bytes, heads))
    short, long = weigh_histories(stage)
    return Storage(checkpoints, len(heads), raw, history, projections, hot, held, short, long, result.failures)


def counted(stage: Stage) -> tuple[int, int]:
    row = stage.watch.sql.execute("SELECT count(*), sum(size_bytes) FROM checkpoints_checkpoint").fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def log_of(head: bytes) -> bytes:
    return head.removesuffix(b"head") + b"log"


def weigh_histories(stage: Stage) -> tuple[int, int]:
    """What Redis holds of a workflow with a short history, and of one with a long one."""
    stage.clean()
    stage.workers[OURS].run(Order(OURS, "histories", "2 KB", 600.0, 1))
    stage.watch.drain()
    short, long = sorted(map(stage.watch.hot_bytes, stage.watch.heads()))
    return short, long
