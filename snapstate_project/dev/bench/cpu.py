"""CPU seconds by group of processes, read from /proc: a process counts with all its descendants, ended ones too."""

import os
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
