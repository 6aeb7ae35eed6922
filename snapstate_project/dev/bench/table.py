"""The one table that a run prints, and under it which marks were met."""

from collections.abc import Iterator

from snapstate_project.dev.bench.contest import Contest, Record
from snapstate_project.dev.bench.marks import Mark
from snapstate_project.dev.bench.requests import OURS, PLAIN
from snapstate_project.dev.bench.results import Results
from snapstate_project.dev.bench.stage import SAVER
from snapstate_project.dev.bench.storage import Storage
from snapstate_project.dev.bench.sustained import Sustained

GROUPS = ("web", "redis", "intake", "postgres", "client")
WIDTHS = (14, 15, 9, 8, 8, 8, 8, 7, *[9] * len(GROUPS), 7, 7, 6)
HEAD = ("", "", "a second", "p50 ms", "p99 ms", "of bare", "settled", "by CPU", *GROUPS, "all", "trips", "SQL")
NOTABLE = 0.05
BIAS = "Who needs more CPU suffers more from that, so `of bare` is too low."
GLOSSARY = """\
bare ASGI: the Redis work of a request, and nothing else · plain ASGI: all of its work, without Django and DRF
of bare: requests a second beside bare ASGI's in the same round (median) · settled: the same, counting the time until
all that follows was done · by CPU: the CPU of bare ASGI beside it · one: one client, beside PostgresSaver.put"""


def render(results: Results, marks: list[Mark]) -> str:
    lines = ["", f"SnapState bench · {results.about}", ""]
    if results.others > NOTABLE:
        lines += [f"Others took {results.others:.0%} of the CPUs meanwhile: trust no absolute figure. {BIAS}", ""]
    if results.contests or results.duels:
        lines += [GLOSSARY, "", " " * 78 + "CPU µs a request, with all that follows from it", line_of(HEAD)]
    for contest in results.contests:
        lines += contest_lines(results, contest)
    for duel in results.duels:
        lines += duel_lines(duel)
    lines += [*map(sustained_line, results.sustained)]
    if results.slowed:
        lines.append(f"slowed intake: {sustained_line(results.slowed)}")
    lines += [f"intake alone, saves of {size}: {rate:,.0f} events/s" for size, rate in results.alone.items()]
    if results.storage:
        lines += storage_lines(results.storage)
    lines += ["", *(f"  {'met   ' if mark.met else 'MISSED'}  {mark.what}: {mark.found}" for mark in marks)]
    return "\n".join([*lines, ""])


def line_of(cells: tuple[str, ...]) -> str:
    names = [f"{cell:<{width}}" for cell, width in zip(cells[:2], WIDTHS[:2], strict=True)]
    figures = [f"{cell:>{width}}" for cell, width in zip(cells[2:], WIDTHS[2:], strict=True)]
    return "".join(names + figures).rstrip()


def contest_lines(results: Results, contest: Contest) -> Iterator[str]:
    name = f"{contest.operation} {contest.size}"
    for contender, record in contest.records.items():
        judged = contender in (OURS, PLAIN)
        ratios = [f"{ratio:.0%}" for ratio in contest.shares_of_bare(contender)] if judged else ["", "", ""]
        cost = results.costs[name]
        costs = (f"{cost.trips:.2f}", f"{cost.transactions:.2f}") if contender == OURS else ("", "")
        yield line_of((name if contender == OURS else "", *figures(contender, record, ratios), *costs))


def figures(contender: str, record: Record, ratios: list[str]) -> tuple[str, ...]:
    cpu = record.cpu()
    groups = [f"{1e6 * cpu[group]:,.0f}" if group in cpu else "" for group in GROUPS]
    every = f"{1e6 * sum(cpu.values()):,.0f}" if cpu else ""
    times = [f"{1_000 * record.latency(share):.2f}" for share in (0.5, 0.99)]
    return (contender, f"{record.rate:,.0f}", *times, *ratios, *groups, every)


def duel_lines(duel: Contest) -> Iterator[str]:
    for contender, record in duel.records.items():
        name = f"one: {duel.size}" if contender == OURS else ""
        yield line_of((name, *figures(contender, record, ["", "", ""]), "", ""))
    p50, cpu = duel.latency_ratio(OURS, SAVER), duel.cpu_ratio(OURS, SAVER)
    yield f"            a save over HTTP takes {p50:.2f} of the time of PostgresSaver.put, and {cpu:.2f} of its CPU"


def sustained_line(run: Sustained) -> str:
    return (
        f"{run.seconds:.0f} s of saves of {run.size}: {run.saves:,.0f} saves/s, {run.events:,.0f} events/s taken; "
        f"intake behind by {run.lag_median:.2f} s (median), {run.lag_max:.2f} s (most), over 2 s for {run.late:.0%}; "
        f"subscribers by {run.subscribers_lag_max:.2f} s (most); {run.refused:,} refused with 503"
    )


def storage_lines(storage: Storage) -> list[str]:
    count, held = storage.checkpoints, storage.hot_checkpoints
    every = (storage.history + storage.projections) / count
    return [
        f"storage of {count:,} checkpoints, {storage.raw / 1e6:,.0f} MB: {storage.raw / count:,.0f} bytes each",
        f"  Postgres: {storage.history / count:,.0f} bytes a checkpoint, {every:,.0f} with its workflow's row",
        f"  Redis: {storage.hot / held:,.0f} bytes for each of the {held:,} checkpoints that it holds",
        f"  Redis: {storage.short:,} bytes for a workflow of 40 saves of 2 KB, {storage.long:,} for one of 1,000",
    ]
