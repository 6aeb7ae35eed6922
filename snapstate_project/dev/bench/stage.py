"""What is measured, for real: servers of its own, web, intake and the bare app beside it, and who drives them."""

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import redis

from snapstate_project.dev import children
from snapstate_project.dev.bench.account import Owner, ask, make_owner
from snapstate_project.dev.bench.bare import ACCOUNT_VARIABLE
from snapstate_project.dev.bench.cpu import Meter, all_processes
from snapstate_project.dev.bench.load import Load
from snapstate_project.dev.bench.pipeline import Pipeline
from snapstate_project.dev.bench.requests import BARE, OURS, PLAIN, Plan
from snapstate_project.dev.bench.saver import Saver
from snapstate_project.dev.bench.slices import Worker
from snapstate_project.dev.bench.watch import Watch
from snapstate_project.dev.embedded import Servers, servers
from snapstate_project.dev.errors import CannotStart
from snapstate_project.dev.process import Process, wait_until
from snapstate_project.dev.server import LOOPBACK, free_port

PIPELINE, SAVER = "Redis pipeline", "PostgresSaver"
OTHER_DATABASE = "langgraph"
START_SECONDS = 60.0
EMPTY = "TRUNCATE checkpoints_workflow, checkpoints_checkpoint, events_event CASCADE"


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


@dataclass
class Stage:
    """Everything that runs, until the stack it stands on is unwound. `home`: the folder that its servers write to."""

    home: Path
    servers: Servers
    stack: contextlib.ExitStack
    admin_secret: str
    processes: dict[str, Process] = field(default_factory=dict)
    addresses: dict[str, tuple[str, int]] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)

    def start(self, name: str, process: Process, **env: str) -> Process:
        process.env = {**process.env, **env}
        self.processes[name] = process
        self.stack.callback(process.stop)
        process.start()
        return process

    def start_worker(self, name: str, make: Callable[..., Any], *args: Any) -> None:
        self.workers[name] = worker = Worker(make, *args)
        self.stack.callback(worker.stop)

    def open_watch(self) -> None:
        sql = self.stack.enter_context(psycopg.connect(self.servers.database_url, autocommit=True))
        store = self.stack.enter_context(redis.Redis.from_url(self.servers.redis_url, protocol=2))
        self.watch = Watch(store, sql)

    def meter(self, contender: str) -> Meter:
        """Who works for a contender. A server in process is its own client."""
        pids = {
            "redis": self.servers.store.pid,
            "postgres": self.servers.postgres.pid,
            "intake": self.processes["intake"].pid,
        }
        if contender in self.processes:
            pids |= {"web": self.processes[contender].pid, "client": self.workers[contender].pid}
        else:
            pids["web"] = self.workers[contender].pid
        return Meter(pids)

    def children_of(self, name: str) -> list[int]:
        master = self.processes[name].pid
        return [pid for pid, (parent, _) in all_processes().items() if parent == master]

    def clean(self) -> None:
        """Forget all workflows, once everything that waits has gone its way; the account stays."""
        self.watch.drain()
        self.watch.redis.flushall()
        self.watch.sql.execute(EMPTY)


@contextlib.contextmanager
def stage(shelf: dict[str, int], raw_bytes: int) -> Iterator[Stage]:
    """Everything is started here and stopped on the way out; nothing of it outlives the run."""
    with contextlib.ExitStack() as stack:
        home = make_folder(stack)
        say("starting Valkey (AOF, everysec) and Postgres (fsync, synchronous_commit)")
        started = stack.enter_context(servers(home))
        made = Stage(home, started, stack, secrets.token_hex(16))
        set_environment(home, made)
        say("migrating; starting web and intake")
        migrate()
        start_processes(home, made)
        owner = make_owner(made.addresses[OURS], made.admin_secret)
        start_yardsticks(made, owner)
        made.open_watch()
        start_workers(made, owner, shelf, raw_bytes)
        yield made


def tell(name: str, line: str) -> None:
    say(f"{name}: {line}")


def make_folder(stack: contextlib.ExitStack) -> Path:
    """On a disk, where there is one: /tmp is often memory, and fsync must cost what it costs."""
    where = "/var/tmp" if Path("/var/tmp").is_dir() else None  # noqa: S108 (mkdtemp makes its own folder in it)
    folder = Path(tempfile.mkdtemp(prefix="snapstate-bench-", dir=where))
    folder.chmod(0o711)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder


def set_environment(home: Path, made: Stage) -> None:
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "snapstate_project.settings",
        "SNAPSTATE_ENV_FILE": os.devnull,
        "SNAPSTATE_HOME": str(home),
        "DEBUG": "false",
        "DJANGO_SECRET_KEY": secrets.token_hex(32),
        "ADMIN_SECRET": made.admin_secret,
        "REDIS_URL": made.servers.redis_url,
        "CELERY_BROKER_URL": made.servers.broker_url,
        "DATABASE_URL": made.servers.database_url,
        "LOG_LEVEL": "WARNING",
    }


def migrate() -> None:
    process = Process("migrate", [sys.executable, "manage.py", "migrate", "--verbosity=0", "--skip-checks"], log=tell)
    process.start()
    wait_until(lambda: not process.running, seconds=START_SECONDS)
    ended_well = process.ended_well
    process.stop()
    if not ended_well:
        raise CannotStart(f"manage.py migrate failed ({process.ending}); its reason stands above.")


def start_processes(home: Path, made: Stage) -> None:
    """Web and intake as `make up` and production start them; celery takes no part in any of this."""
    found = {process.name: process for process in children.processes(home, tell)}
    made.start("intake", found["intake"])
    made.addresses[OURS] = (LOOPBACK, free_port())
    url = f"{made.servers.database_url}?application_name=web"
    made.start(OURS, found["web"], PORT=str(made.addresses[OURS][1]), DATABASE_URL=url)
    wait_for(made, OURS, "/ready")


def start_yardsticks(made: Stage, owner: Owner) -> None:
    """Under the very command that web runs under."""
    web = made.processes[OURS]
    for name in (BARE, PLAIN):
        made.addresses[name] = (LOOPBACK, free_port())
        command = [*web.command[:-1], f"snapstate_project.dev.bench.{name.split()[0]}:application"]
        process = Process(name, command, log=tell)
        process.env = web.env
        made.start(name, process, PORT=str(made.addresses[name][1]), **{ACCOUNT_VARIABLE: owner.account_id})
        wait_for(made, name, "/ready/-")


def wait_for(made: Stage, contender: str, path: str) -> None:
    def answers() -> bool:
        with contextlib.suppress(OSError, RuntimeError):
            ask(made.addresses[contender], "", "GET", path)
            return True
        return False

    process = made.processes[contender]
    wait_until(lambda: answers() or not process.running, seconds=START_SECONDS)
    if not answers():
        raise CannotStart(f"{contender} does not answer ({process.ending}).")


def start_workers(made: Stage, owner: Owner, shelf: dict[str, int], raw_bytes: int) -> None:
    made.watch.sql.execute(f"CREATE DATABASE {OTHER_DATABASE}")
    masters = {contender: made.processes[contender].pid for contender in made.addresses}
    plan = Plan(made.addresses, masters, owner.key, f"b{int(time.time())}", shelf, raw_bytes)
    made.start_worker(OURS, Load, plan)
    made.workers[BARE] = made.workers[PLAIN] = made.workers[OURS]
    made.start_worker(PIPELINE, Pipeline, plan, UUID(owner.account_id))
    made.start_worker(SAVER, Saver, plan, made.servers.postgres.url_of(OTHER_DATABASE))
