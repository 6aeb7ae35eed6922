"""A minute at full speed: whether intake and its subscribers keep up, and what happens when intake cannot."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from snapstate_project.dev.bench.requests import OURS
from snapstate_project.dev.bench.slices import Order, Slice
from snapstate_project.dev.bench.stage import PIPELINE, Stage, say

LATE_SECONDS = 2.0
SAMPLE_SECONDS = 0.2
PRELOAD_SECONDS = 2.0
SLOWED_TO = 0.1


@dataclass(frozen=True)
class Sustained:
    """Lags in seconds. `late` is the share of samples in which intake was more than two seconds behind."""

    size: str
    seconds: float
    saves: float
    refused: int
    failures: dict[str, int]
    events: float
    lag_median: float
    lag_max: float
    late: float
    subscribers_lag_max: float


@dataclass(frozen=True)
class Sample:
    intake: float
    subscribers: float


def sustain(stage: Stage, size: str, seconds: float, connections: int) -> Sustained:
    """Saves as fast as they are answered, while everything behind them is watched."""
    stage.clean()
    say(f"  sustained: saves of {size} for {seconds:.0f} s")
    result, samples = under_load(stage, size, seconds, connections, lambda _: None)
    return summed_up(stage, size, result, samples)


def slow_intake(stage: Stage, size: str, seconds: float, connections: int) -> Sustained:
    """The same while intake gets a tenth of its time: saves are to be refused (503), not lost and not hoarded."""
    stage.clean()
    say(f"  back-pressure: saves of {size} for {seconds:.0f} s while intake runs a tenth of the time")
    intake = stage.processes["intake"]

    def let_run(share: float) -> None:
        intake.send(signal.SIGCONT)
        time.sleep(SAMPLE_SECONDS * share)
        intake.send(signal.SIGSTOP)

    try:
        result, samples = under_load(stage, size, seconds, connections, lambda _: let_run(SLOWED_TO))
    finally:
        intake.send(signal.SIGCONT)
    return summed_up(stage, size, result, samples)


def under_load(
    stage: Stage, size: str, seconds: float, connections: int, meanwhile: Callable[[float], None]
) -> tuple[Slice, list[Sample]]:
    worker = stage.workers[OURS]
    worker.begin(Order(OURS, "save", size, seconds, connections))
    samples = []
    until = time.monotonic() + seconds
    while (now := time.monotonic()) < until:
        meanwhile(now)
        samples.append(Sample(stage.watch.intake_lag(), stage.watch.subscribers_lag()))
        time.sleep(max(0.0, SAMPLE_SECONDS - (time.monotonic() - now)))
    return worker.finish(), samples


def summed_up(stage: Stage, size: str, result: Slice, samples: list[Sample]) -> Sustained:
    events = stage.watch.events()
    failures = dict(result.failures)
    refused = failures.pop("503", 0)
    lags = [sample.intake for sample in samples]
    stage.watch.drain()
    return Sustained(
        size=size,
        seconds=result.seconds,
        saves=result.rate,
        refused=refused,
        failures=failures,
        events=events / result.seconds,
        lag_median=median(lags),
        lag_max=max(lags),
        late=sum(lag > LATE_SECONDS for lag in lags) / len(lags),
        subscribers_lag_max=max(sample.subscribers for sample in samples),
    )


def intake_alone(stage: Stage, size: str, connections: int) -> float:
    """Events a second that intake and its subscribers take when nothing else is going on."""
    stage.clean()
    intake = stage.processes["intake"]
    intake.send(signal.SIGSTOP)
    try:
        stage.workers[PIPELINE].run(Order(PIPELINE, "save", size, PRELOAD_SECONDS, connections))
        waiting = stage.watch.waiting()
    finally:
        intake.send(signal.SIGCONT)
    return waiting / stage.watch.drain()
