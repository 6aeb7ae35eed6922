"""Processes that outlive their parent come to us (Linux), so that none of ours is left behind, not even as a zombie."""

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def adopt() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> list[int]:
    """Our children by number, zombies included; empty where /proc does not tell."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            after_name = stat.read_text().rpartition(")")[2].split()
            if int(after_name[1]) == os.getpid():
                found.append(int(stat.parent.name))
    return found


def reap(known: Collection[int]) -> None:
    """Let go of adopted children that have ended; `known` ones are waited for by who started them."""
    for pid in set(children()) - set(known):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def end_all(known: Collection[int], *, seconds: float = 5.0) -> None:
    """Kill every adopted child and its own adopted children, until none is left."""
    deadline = time.monotonic() + seconds
    while (left := set(children()) - set(known)) and time.monotonic() < deadline:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        reap(known)
        time.sleep(0.02)
