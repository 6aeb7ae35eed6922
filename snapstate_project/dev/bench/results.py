"""Everything that one run has found, as it is written to bench.json."""

import dataclasses
import json
import os
import platform
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from snapstate_project.dev.bench.contest import Contest, Record
from snapstate_project.dev.bench.counting import Cost
from snapstate_project.dev.bench.requests import BARE, OURS, PLAIN
from snapstate_project.dev.bench.stage import SAVER, Stage
from snapstate_project.dev.bench.storage import Storage
from snapstate_project.dev.bench.sustained import Sustained

SYNCS, SYNCED = 200, b"\0" * 8192


@dataclass
class Results:
    """`contests` under full load; `duels` of one client with PostgresSaver; `alone`: events a second, by size.

    `others`: the share of the machine that processes other than ours took meanwhile.
    """

    about: str = ""
    others: float = 0.0
    contests: list[Contest] = field(default_factory=list)
    duels: list[Contest] = field(default_factory=list)
    costs: dict[str, Cost] = field(default_factory=dict)
    sustained: list[Sustained] = field(default_factory=list)
    slowed: Sustained | None = None
    alone: dict[str, float] = field(default_factory=dict)
    storage: Storage | None = None

    @property
    def failures(self) -> int:
        """Answers that were no success, the refusals of the slowed intake not counted."""
        records = [record for contest in [*self.contests, *self.duels] for record in contest.records.values()]
        found = [record.failures for record in records] + [run.failures for run in self.sustained]
        return sum(sum(each.values()) for each in found) + sum(run.refused for run in self.sustained)

    def write(self, path: Path, marks: list[Any]) -> None:
        text = json.dumps(self.as_json() | {"marks": [dataclasses.asdict(mark) for mark in marks]}, indent=2)
        path.write_text(f"{text}\n")

    def as_json(self) -> dict[str, Any]:
        return {
            "about": self.about,
            "share_of_cpu_taken_by_others": self.others,
            "full_load": [contest_as_json(contest) for contest in self.contests],
            "one_client": [contest_as_json(duel) for duel in self.duels],
            "warm_request": {name: dataclasses.asdict(cost) for name, cost in self.costs.items()},
            "sustained": [dataclasses.asdict(run) for run in self.sustained],
            "slowed_intake": self.slowed and dataclasses.asdict(self.slowed),
            "intake_alone_events_per_second": self.alone,
            "storage": self.storage and self.storage.as_json(),
            "failures": self.failures,
        }


def contest_as_json(contest: Contest) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operation": contest.operation,
        "size": contest.size,
        "contenders": {name: record_as_json(record) for name, record in contest.records.items()},
    }
    if BARE in contest.records:
        found["of_bare"], found["of_bare_settled"], found["of_bare_by_cpu"] = contest.shares_of_bare(OURS)
    if PLAIN in contest.records:
        found["of_plain"] = contest.ratio(OURS, PLAIN)
    if SAVER in contest.records:
        found["p50_of_postgres_saver"] = contest.latency_ratio(OURS, SAVER)
        found["cpu_of_postgres_saver"] = contest.cpu_ratio(OURS, SAVER)
    return found


def record_as_json(record: Record) -> dict[str, Any]:
    return {
        "per_second": record.rate,
        "per_second_by_round": [turn.slice.rate for turn in record.turns],
        "p50_ms": 1_000 * record.latency(0.5),
        "p99_ms": 1_000 * record.latency(0.99),
        "cpu_us_per_request": {name: 1e6 * seconds for name, seconds in record.cpu().items()},
        "drained_seconds_by_round": [turn.drained for turn in record.turns],
        "requests": record.done,
        "failures": record.failures,
    }


def about(stage: Stage) -> str:
    """What was measured on what."""
    store = stage.watch.redis.info("server")
    version = str(stage.watch.one("SHOW server_version")).split()[0]
    settings = [f"{name} {stage.watch.one(f'SHOW {name}')}" for name in ("fsync", "synchronous_commit")]
    aof = stage.watch.redis.config_get("appendfsync")["appendfsync"]
    return (
        f"{os.cpu_count()} cores · Python {platform.python_version()} · Valkey {store['valkey_version']}, AOF {aof} · "
        f"Postgres {version}, {', '.join(settings)}, a synced write takes {1_000 * sync_seconds(stage.home):.2f} ms"
    )


def sync_seconds(folder: Path) -> float:
    """What a commit waits for the disk, about (a median): PostgresSaver.put waits for it, a save does not."""
    sync, waits = getattr(os, "fdatasync", os.fsync), []
    with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
        file.write(SYNCED * SYNCS)  # as a log that Postgres writes into is there already
        os.fsync(file.fileno())
        for number in range(SYNCS):
            began = time.perf_counter()
            os.pwrite(file.fileno(), SYNCED, number * len(SYNCED))
            sync(file.fileno())
            waits.append(time.perf_counter() - began)
    return median(waits)
