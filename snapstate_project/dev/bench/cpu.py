"""CPU seconds by group of processes, read from /proc: a process counts with all its descendants, ended ones too."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")

type Usage = dict[str, float]


class Meter:
    """Empty readings where there is no /proc: then nothing is said of CPU."""

    def __init__(self, groups: Mapping[str, int]) -> None:
        """`groups` names the root process of each group."""
        self.groups = dict(groups)

    def read(self) -> Usage:
        processes = all_processes()
        children: dict[int, list[int]] = {}
        for pid, (parent, _) in processes.items():
            children.setdefault(parent, []).append(pid)
        return {
            name: sum(processes[pid][1] for pid in family(root, children) if pid in processes) / TICKS
            for name, root in self.groups.items()
            if processes
        }


class Others:
    """How much of the machine was taken by processes that are none of ours, since this was made."""

    def __init__(self) -> None:
        self.began, self.taken = time.monotonic(), self.taken_by_others()

    @staticmethod
    def taken_by_others() -> float:
        if not (PROC / "stat").exists():
            return 0.0
        fields = [int(field) for field in (PROC / "stat").read_text().split(maxsplit=9)[1:9]]
        idle, waiting = fields[3:5]
        ours = Meter({"ours": os.getpid()}).read()["ours"]
        return (sum(fields) - idle - waiting) / TICKS - ours

    @property
    def share(self) -> float:
        elapsed = (time.monotonic() - self.began) * (os.cpu_count() or 1)
        return max(0.0, self.taken_by_others() - self.taken) / elapsed


def all_processes() -> dict[int, tuple[int, int]]:
    """Parent and ticks of CPU (its own and those of children it has waited for) by process."""
    found = {}
    for folder in PROC.glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        found[int(folder.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    return found


def family(root: int, children: Mapping[int, list[int]]) -> list[int]:
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def difference(after: Usage, before: Usage) -> Usage:
    return {name: used - before[name] for name, used in after.items() if name in before}
