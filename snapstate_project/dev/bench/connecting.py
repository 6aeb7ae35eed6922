"""Connections shared out evenly over a server's workers.

Whichever worker wakes first takes all that wait, so that by chance one would have most of the work: that is noise. So
all but one are stopped for the moment in which that one takes its share.
"""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterable, Iterator

from snapstate_project.dev.bench.cpu import PROC, all_processes

ACCEPT_SECONDS = 2.0
TIMEOUT_SECONDS = 20.0


def connect(address: tuple[str, int], count: int, master: int) -> list[socket.socket]:
    """`master` is the process whose children serve. Where /proc does not name them, chance decides."""
    workers = sorted(pid for pid, (parent, _) in all_processes().items() if parent == master)
    if len(workers) < 2 or count < len(workers):
        return [dial(address) for _ in range(count)]
    connections: list[socket.socket] = []
    for place, worker in enumerate(workers):
        share = count // len(workers) + (place < count % len(workers))
        with stopped(other for other in workers if other != worker):
            connections += dial_and_wait(address, share)
    return connections


def dial(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=TIMEOUT_SECONDS)


@contextlib.contextmanager
def stopped(pids: Iterable[int]) -> Iterator[None]:
    pids = list(pids)
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def dial_and_wait(address: tuple[str, int], count: int) -> list[socket.socket]:
    """Connections that the server has taken."""
    connections = [dial(address) for _ in range(count)]
    own_ports = {connection.getsockname()[1] for connection in connections}
    until = time.monotonic() + ACCEPT_SECONDS
    while not taken(address[1]) >= own_ports and time.monotonic() < until:
        time.sleep(0.001)
    return connections


def taken(port: int) -> set[int]:
    """The clients' ports of all connections to a server that have a socket there: one that waits has none yet."""
    rows = [line.split() for line in (PROC / "net" / "tcp").read_text().splitlines()[1:]]
    ending = f":{port:04X}"
    return {int(row[2].partition(":")[2], 16) for row in rows if row[1].endswith(ending) and row[9] != "0"}
