"""`make bench`: SnapState beside a bare ASGI app, a bare Redis pipeline and LangGraph's PostgresSaver.

Starts servers and processes of its own, drives the live API over HTTP, prints one table and writes a JSON file. Only
the ratios mean anything: contenders take turns of a second each, and the ratio is taken inside each round.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from snapstate_project.dev.bench.contest import hold, shelve
from snapstate_project.dev.bench.counting import count_cost
from snapstate_project.dev.bench.cpu import Others
from snapstate_project.dev.bench.marks import judge
from snapstate_project.dev.bench.requests import BARE, OURS, PLAIN, READS, SIZES
from snapstate_project.dev.bench.results import Results, about
from snapstate_project.dev.bench.slices import Order
from snapstate_project.dev.bench.stage import PIPELINE, SAVER, Stage, say, stage
from snapstate_project.dev.bench.storage import weigh
from snapstate_project.dev.bench.sustained import intake_alone, slow_intake, sustain
from snapstate_project.dev.bench.table import render
from snapstate_project.dev.errors import CannotStart

PARTS = ("save", "resume", "replay", "sustained", "storage")
SHELF = {"2 KB": 400, "50 KB": 60}
PRESSURE_SECONDS = 15.0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="rounds of slices (default: 9)")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a slice (default: 1)")
    parser.add_argument("--connections", type=int, default=32, help="clients at full load (default: 32)")
    parser.add_argument("--sustained", type=float, default=60.0, help="seconds of sustained saves (default: 60)")
    parser.add_argument("--raw", type=float, default=100.0, help="MB of states to weigh (default: 100)")
    parser.add_argument("--only", default=",".join(PARTS), help=f"parts to run, of {','.join(PARTS)} (default: all)")
    parser.add_argument("--json", type=Path, default=Path("bench.json"), help="where to write (default: bench.json)")
    parser.add_argument("--quick", action="store_true", help="a look in a minute or two: less of everything")
    options = parser.parse_args(arguments)
    options.only = options.only.split(",")
    if unknown := set(options.only) - set(PARTS):
        parser.error(f"--only knows {', '.join(PARTS)}, not {', '.join(sorted(unknown))}")
    if options.quick:
        options.rounds, options.seconds, options.sustained, options.raw = 3, 0.5, 6.0, 10.0
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    signal.signal(signal.SIGTERM, end)
    try:
        with stage(SHELF, int(options.raw * 1e6)) as made:
            results = measure(made, options)
    except CannotStart as reason:
        say(f"The bench cannot start: {reason}")
        return 1
    except KeyboardInterrupt:
        say("Stopped.")
        return 130
    marks = judge(results)
    results.write(options.json, marks)
    sys.stdout.write(render(results, marks))
    say(f"written to {options.json}")
    return 0


def end(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def measure(made: Stage, options: argparse.Namespace) -> Results:
    results, others = Results(about=about(made)), Others()
    for size in SIZES:
        if "save" in options.only:
            compete(made, results, options, "save", size)
            made.clean()
            duel(made, results, options, size)
        made.clean()
        reads = [operation for operation in READS if operation in options.only]
        if reads:
            shelve(made, size, options.connections)
        for operation in reads:
            compete(made, results, options, operation, size)
    if "sustained" in options.only:
        keep_up(made, results, options)
    if "storage" in options.only:
        results.storage = weigh(made)
    results.others = others.share
    return results


def compete(made: Stage, results: Results, options: argparse.Namespace, operation: str, size: str) -> None:
    contenders = (OURS, BARE) if operation == "replay" else (OURS, PLAIN, BARE)
    orders = [Order(name, operation, size, options.seconds, options.connections) for name in contenders]
    orders.append(Order(PIPELINE, operation, size, options.seconds / 3, options.connections))
    results.contests.append(hold(made, orders, options.rounds))
    results.costs[f"{operation} {size}"] = count_cost(made, operation, size)


def duel(made: Stage, results: Results, options: argparse.Namespace, size: str) -> None:
    """One client; each side makes bytes of the state within the measured time."""
    orders = [Order(contender, "save", size, options.seconds, encoding=True) for contender in (OURS, SAVER)]
    results.duels.append(hold(made, orders, options.rounds))


def keep_up(made: Stage, results: Results, options: argparse.Namespace) -> None:
    for size, share in zip(SIZES, (1.0, 0.25), strict=True):
        results.sustained.append(sustain(made, size, options.sustained * share, options.connections))
        results.alone[size] = intake_alone(made, size, options.connections)
    seconds = min(PRESSURE_SECONDS, options.sustained)
    results.slowed = slow_intake(made, "2 KB", seconds, options.connections)


if __name__ == "__main__":
    sys.exit(main())
