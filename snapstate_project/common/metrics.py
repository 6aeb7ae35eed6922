"""Figures of one process, cheap enough to take at every request; all processes of a server show theirs as one.

To count is a look-up and an addition in this process alone. What has changed is written once a second to a file of the
process's own, and whoever is asked for the figures adds up everybody's. The files of processes that have ended stay:
a sum never goes down. Counts are taken on the event loop; from other threads one may get lost.
"""

import asyncio
import logging
import os
import secrets
import threading
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

PUBLISHED_EVERY_SECONDS = 1.0
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

type Labels = tuple[str, ...]
type Rows = dict[Labels, list[float]]

logger = logging.getLogger(__name__)
series: "dict[str, Series]" = {}


class Series:
    """A row of numbers for each combination of labels; known by its name to all who publish."""

    def __init__(self, name: str, told: str, labels: Sequence[str] = ()) -> None:
        self.name, self.told, self.labels = name, told, tuple(labels)
        self.rows: Rows = {}
        series[name] = self

    def families(self, rows: Rows) -> Iterable[Metric]:
        raise NotImplementedError


class Counter(Series):
    def count(self, *labels: str) -> None:
        row = self.rows.get(labels)
        if row is None:
            row = self.rows.setdefault(labels, [0.0])
        row[0] += 1.0

    def families(self, rows: Rows) -> Iterable[Metric]:
        family = CounterMetricFamily(self.name, self.told, labels=self.labels)
        for labels, (value,) in sorted(rows.items()):
            family.add_metric(labels, value)
        yield family


class Histogram(Series):
    """Each row: how many fell between two bounds, how many beyond the last, and the sum."""

    def observe(self, labels: Labels, value: float) -> None:
        row = self.rows.get(labels)
        if row is None:
            row = self.rows.setdefault(labels, [0.0] * (len(BOUNDS) + 2))
        row[bisect_left(BOUNDS, value)] += 1.0
        row[-1] += value

    def families(self, rows: Rows) -> Iterable[Metric]:
        family = HistogramMetricFamily(self.name, self.told, labels=self.labels)
        for labels, row in sorted(rows.items()):
            family.add_metric(labels, buckets(row), sum_value=row[-1])
        yield family


def buckets(row: Sequence[float]) -> list[tuple[str, float]]:
    """Cumulative, as Prometheus wants them."""
    found, total = [], 0.0
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), row[:-1], strict=True):
        total += count
        found.append((bound, total))
    return found


def add_up(all_rows: Iterable[Mapping[Labels, Sequence[float]]]) -> Rows:
    total: Rows = {}
    for rows in all_rows:
        for labels, row in rows.items():
            known = total.get(labels)
            total[labels] = list(row) if known is None else [a + b for a, b in zip(known, row, strict=True)]
    return total


type Published = dict[str, list[tuple[Labels, list[float]]]]
encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(Published).decode


class Board:
    """Where the processes of one server show their figures to each other; without a folder each is alone."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.lock = threading.Lock()
        self.written = b""
        self.file = ""

    def publish(self) -> None:
        """Write what this process has, if it has changed."""
        with self.lock:
            packed = encode({name: list(each.rows.items()) for name, each in series.items()})
            if self.folder is None or packed == self.written:
                return
            self.file = self.file or f"{os.getpid()}-{secrets.token_hex(4)}"
            self.folder.mkdir(exist_ok=True)  # whoever tidies up temporary folders knows nothing of us
            beside = self.folder / f"{self.file}.part"
            beside.write_bytes(packed)
            beside.rename(self.folder / f"{self.file}.figures")
            self.written = packed

    def totals(self) -> dict[str, Rows]:
        """Of all processes: ours as they are now, the others' as of their last second."""
        self.try_to_publish()
        if self.folder is None or not (files := list(self.folder.glob("*.figures"))):
            return {name: dict(each.rows) for name, each in series.items()}
        found = [decode(path.read_bytes()) for path in files]
        return {name: add_up(dict(each.get(name, [])) for each in found) for name in series}

    def families(self) -> list[Metric]:
        totals = self.totals()
        return [family for name, rows in totals.items() for family in series[name].families(rows)]

    async def keep_publishing(self) -> None:
        """Until it is cancelled; the last word is the caller's."""
        while self.folder is not None:
            await asyncio.sleep(PUBLISHED_EVERY_SECONDS)
            await asyncio.to_thread(self.try_to_publish)  # a disk may take a millisecond, or a second

    def try_to_publish(self) -> None:
        """A full disk must not end a process that only wanted to tell how it is."""
        try:
            self.publish()
        except OSError as error:
            logger.warning("figures cannot be published: %s", error)


board = Board()
