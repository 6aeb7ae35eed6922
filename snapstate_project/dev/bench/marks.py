"""What has been promised, and whether this run bears it out."""

from collections.abc import Iterator
from dataclasses import dataclass

from snapstate_project.dev.bench.contest import Contest
from snapstate_project.dev.bench.requests import OURS
from snapstate_project.dev.bench.results import Results
from snapstate_project.dev.bench.stage import SAVER
from snapstate_project.dev.bench.storage import Storage
from snapstate_project.dev.bench.sustained import Sustained

OF_BARE = {"save": 0.65, "resume": 0.60}
OF_SAVER = {"2 KB": 1.0, "50 KB": 0.75}
CPU_OF_SAVER = 0.6
TIMES_SMALLER = 25.0
LATE_SHARE = 0.05
FLAT = 1.05


@dataclass(frozen=True)
class Mark:
    what: str
    found: str
    met: bool


def judge(results: Results) -> list[Mark]:
    """Of what has been measured; what was left out is not judged."""
    marks = [mark for contest in results.contests for mark in of_bare(contest)]
    marks += [mark for duel in results.duels for mark in of_saver(duel)]
    if cost := results.costs.get("save 2 KB"):
        marks.append(Mark("a warm save: no SQL", f"{cost.transactions:.2f}", cost.transactions == 0))
        marks.append(Mark("a warm save: at most 2 round trips", f"{cost.trips:.2f}", cost.trips <= 2))
    marks += [keeping_up(run) for run in results.sustained]
    if results.slowed:
        marks.append(refusing(results.slowed))
    if results.storage:
        marks += of_storage(results.storage)
    marks.append(Mark("every answer a success", f"{results.failures} others", results.failures == 0))
    return marks


def of_bare(contest: Contest) -> Iterator[Mark]:
    """With what follows charged: a bare app that answers faster than its events can be taken is ahead on credit."""
    least = OF_BARE.get(contest.operation)
    if least:
        slices, settled, by_cpu = contest.shares_of_bare(OURS)
        what = f"{contest.operation} {contest.size}: at least {least:.0%} of bare ASGI, settled"
        yield Mark(what, f"{settled:.0%} ({slices:.0%} unsettled, {by_cpu:.0%} by CPU)", settled >= least)


def of_saver(duel: Contest) -> Iterator[Mark]:
    most, ratio = OF_SAVER[duel.size], duel.latency_ratio(OURS, SAVER)
    what = f"save {duel.size} by one client: p50 at most {most:g} of PostgresSaver.put"
    yield Mark(what, f"{ratio:.2f}", ratio <= most)
    if any(turn.cpu for turn in duel.records[OURS].turns):
        cpu = duel.cpu_ratio(OURS, SAVER)
        what = f"save {duel.size} by one client: CPU at most {CPU_OF_SAVER:g} of PostgresSaver's"
        yield Mark(what, f"{cpu:.2f}", cpu <= CPU_OF_SAVER)


def keeping_up(run: Sustained) -> Mark:
    what = f"{run.seconds:.0f} s of saves of {run.size}: intake more than 2 s behind for at most {LATE_SHARE:.0%}"
    return Mark(what, f"{run.late:.0%}, at most {run.lag_max:.1f} s", run.late <= LATE_SHARE)


def refusing(run: Sustained) -> Mark:
    found = f"{run.refused} refused, at most {run.lag_max:.1f} s behind"
    return Mark("a slowed intake: saves are refused, not hoarded", found, run.refused > 0 and not run.failures)


def of_storage(storage: Storage) -> Iterator[Mark]:
    times = storage.times_smaller
    yield Mark(f"history at least {TIMES_SMALLER:.0f} times smaller", f"{times:.1f} times", times >= TIMES_SMALLER)
    growth = storage.long / storage.short
    yield Mark("Redis memory of a workflow: flat however long its history", f"{growth:.2f} times", growth <= FLAT)
