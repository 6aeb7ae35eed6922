"""Round trips to Redis and transactions in Postgres that one warm request costs, with nothing else going on."""

import contextlib
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from snapstate_project.dev.bench.requests import OURS
from snapstate_project.dev.bench.slices import Order
from snapstate_project.dev.bench.stage import Stage
from snapstate_project.dev.process import wait_until

SECONDS = 0.1
TRIES = 3
FLUSH_SECONDS = 11.0  # an idle backend tells what it did after ten
WEB = "FROM pg_stat_activity WHERE application_name = 'web'"
LAST_STATEMENT = f"SELECT max(query_start)::text || count(*) {WEB}"
TRANSACTIONS = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"


@dataclass(frozen=True)
class Cost:
    """Per request: commands on the links of the web processes, and transactions of theirs."""

    requests: int
    trips: float
    transactions: float


def count_cost(stage: Stage, operation: str, size: str) -> Cost:
    """One client, one request after the other; intake is halted, for it speaks to both servers all the time."""
    order = Order(OURS, "warm" if operation == "save" else operation, size, SECONDS)
    stage.workers[OURS].run(order)
    stage.watch.drain()
    with halted(stage):
        for _ in range(TRIES):  # once a minute a web process notes that a key is in use
            before = stage.watch.one(LAST_STATEMENT)
            with monitored(stage) as monitor:
                done = stage.workers[OURS].run(order).done
            silent = stage.watch.one(LAST_STATEMENT) == before  # exact, and free of the delays of statistics
            if silent:
                break
        transactions = 0.0 if silent else count_transactions(stage, order)
    wait_until(lambda: stage.watch.waiting() == 0, seconds=60)
    return Cost(done, monitor.commands / done, transactions)


def count_transactions(stage: Stage, order: Order) -> float:
    time.sleep(FLUSH_SECONDS)
    before = committed(stage)
    done = stage.workers[OURS].run(order).done
    time.sleep(FLUSH_SECONDS)
    return (committed(stage) - before - 1) / done  # less our own look


@contextlib.contextmanager
def halted(stage: Stage) -> Iterator[None]:
    intake = stage.processes["intake"]
    intake.send(signal.SIGSTOP)
    try:
        yield
    finally:
        intake.send(signal.SIGCONT)


def committed(stage: Stage) -> int:
    """Transactions of the database so far, as far as its backends have told."""
    stage.watch.one("SELECT pg_stat_clear_snapshot()")
    return int(stage.watch.one(TRANSACTIONS))


@dataclass
class Monitor:
    """Counts the commands of some clients as Redis sees them; what their scripts call in turn is none of theirs."""

    url: str
    clients: frozenset[str]
    commands: int = 0
    ready: threading.Event = field(default_factory=threading.Event)

    def watch(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as lines:
            for line in lines:
                if line.startswith(b"+OK"):
                    self.ready.set()
                else:
                    self.commands += line[:100].partition(b"]")[0].rpartition(b" ")[2].decode() in self.clients


@contextlib.contextmanager
def monitored(stage: Stage) -> Iterator[Monitor]:
    monitor = Monitor(stage.servers.redis_url, links_of_web(stage))
    address = urlsplit(monitor.url)
    with socket.create_connection((address.hostname or "", address.port or 0)) as connection:
        thread = threading.Thread(target=monitor.watch, args=(connection,))
        connection.sendall(f"AUTH {address.password}\r\n".encode())
        connection.recv(100)
        connection.sendall(b"MONITOR\r\n")
        thread.start()
        monitor.ready.wait(10)
        yield monitor
        stage.watch.redis.client_kill_filter(laddr=None, _type=None, addr=address_of(connection))
        thread.join()


def links_of_web(stage: Stage) -> frozenset[str]:
    """The addresses of the links of the web processes; each names its connection after itself."""
    names = {f"snapstate:{pid}" for pid in stage.children_of(OURS)}
    return frozenset(client["addr"] for client in stage.watch.redis.client_list() if client["name"] in names)


def address_of(connection: socket.socket) -> str:
    host, port = connection.getsockname()
    return f"{host}:{port}"
