"""Contenders take turns of one slice each, round after round; only ratios within a round mean anything."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from snapstate_project.dev.bench.cpu import Usage, difference
from snapstate_project.dev.bench.requests import BARE, OURS
from snapstate_project.dev.bench.slices import Order, Slice
from snapstate_project.dev.bench.stage import SAVER, Stage, say

WARM_UP_SECONDS = 0.5


@dataclass
class Turn:
    """One slice: what was done, the CPU it took with all that followed from it, and how long that was."""

    slice: Slice
    cpu: Usage
    drained: float

    @property
    def settled_rate(self) -> float:
        """Answers a second, counting the time until everything behind them was done as well."""
        return self.slice.done / (self.slice.seconds + self.drained)


@dataclass
class Record:
    """A contender's turns, one a round."""

    turns: list[Turn] = field(default_factory=list)

    @property
    def done(self) -> int:
        return sum(turn.slice.done for turn in self.turns)

    @property
    def failures(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for turn in self.turns:
            for status, times in turn.slice.failures.items():
                found[status] = found.get(status, 0) + times
        return found

    @property
    def rate(self) -> float:
        return median(turn.slice.rate for turn in self.turns)

    def latency(self, share: float) -> float:
        """Seconds; over all turns together."""
        every = sorted(latency for turn in self.turns for latency in turn.slice.latencies)
        return every[min(len(every) - 1, int(share * len(every)))] if every else 0.0

    def cpu(self) -> Usage:
        """Seconds per answer, by group of processes."""
        groups = self.turns[0].cpu
        return {name: sum(turn.cpu[name] for turn in self.turns) / max(1, self.done) for name in groups}


@dataclass
class Contest:
    operation: str
    size: str
    records: dict[str, Record]

    def shares_of_bare(self, of: str) -> tuple[float, float, float]:
        """Of requests a second, of those until all is settled, and of CPU turned over: the higher the better."""
        return self.ratio(of, BARE), self.settled_ratio(of, BARE), self.cpu_ratio(BARE, of)

    def ratio(self, of: str, to: str) -> float:
        """Of requests a second: the median of what it was in each round."""
        return self.median_of([(mine.slice.rate, other.slice.rate) for mine, other in self.pairs(of, to)])

    def settled_ratio(self, of: str, to: str) -> float:
        return self.median_of([(mine.settled_rate, other.settled_rate) for mine, other in self.pairs(of, to)])

    def latency_ratio(self, of: str, to: str) -> float:
        """Of each round's median latency."""
        return self.median_of(
            [(median(mine.slice.latencies), median(other.slice.latencies)) for mine, other in self.pairs(of, to)]
        )

    def cpu_ratio(self, of: str, to: str) -> float:
        """Of CPU per answer over all processes."""
        return self.median_of([(cpu_per_answer(mine), cpu_per_answer(other)) for mine, other in self.pairs(of, to)])

    def pairs(self, of: str, to: str) -> list[tuple[Turn, Turn]]:
        return list(zip(self.records[of].turns, self.records[to].turns, strict=True))

    @staticmethod
    def median_of(pairs: list[tuple[float, float]]) -> float:
        return median(mine / other if other else 0.0 for mine, other in pairs)


def cpu_per_answer(turn: Turn) -> float:
    return sum(turn.cpu.values()) / max(1, turn.slice.done)


def hold(stage: Stage, orders: Sequence[Order], rounds: int) -> Contest:
    """Every order once a round, each round beginning with another; a short turn before to warm up."""
    records = {order.contender: Record() for order in orders}
    for order in orders:
        take_turn(stage, replace(order, seconds=min(order.seconds, WARM_UP_SECONDS)))
    for number in range(rounds):
        first = number % len(orders)
        for order in [*orders[first:], *orders[:first]]:
            records[order.contender].turns.append(take_turn(stage, order))
    contest = Contest(orders[0].operation, orders[0].size, records)
    rates = ", ".join(f"{name} {record.rate:,.0f}/s" for name, record in records.items())
    say(f"  {contest.operation} {contest.size}: {rates}")
    return contest


def take_turn(stage: Stage, order: Order) -> Turn:
    """Background work is waited for and charged to whoever caused it."""
    meter = stage.meter(order.contender)
    before = meter.read()
    result = stage.workers[order.contender].run(order)
    drained = stage.watch.drain()
    used = difference(meter.read(), before)
    if order.contender == SAVER:  # what idles beside it is none of its business
        used = {name: used[name] for name in ("web", "postgres") if name in used}
    return Turn(result, used, drained)


def shelve(stage: Stage, size: str, connections: int) -> None:
    """Save the workflows that are then read from."""
    result = stage.workers[OURS].run(Order(OURS, "shelve", size, 600.0, connections))
    if result.failures:
        raise RuntimeError(f"saving what is to be read failed: {result.failures}")
    stage.watch.drain()
