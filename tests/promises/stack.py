"""All of SnapState as it runs for real, on servers, a port and a home of its own; each part can die and come back."""

import os
import secrets
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import redis as redis_py

from snapstate_project.dev.children import processes
from snapstate_project.dev.embedded import Servers, servers
from snapstate_project.dev.home import BASE_DIR
from snapstate_project.dev.process import Process, wait_until
from snapstate_project.dev.server import LOOPBACK, free_port

SHARDS = range(16)
PATIENCE_SECONDS = 60.0
DRIVER = "tests.promises.intake_that"
PASS = "import django; django.setup(); from checkpoints.archiving import archive_expiring; archive_expiring()"


@dataclass(frozen=True)
class Tenant:
    """An account of its own, and the secret of a key with every scope."""

    account_id: str
    key: str


class Stack:
    """The parts by their names: store, broker, postgres, intake, web, worker, beat."""

    def __init__(self, home: Path, servers: Servers) -> None:
        self.home = home
        self.lines: list[tuple[str, str]] = []
        self.port = free_port()
        self.url = f"http://{LOOPBACK}:{self.port}"
        self.store, self.broker, self.postgres = servers.store, servers.broker, servers.postgres
        self.env = {
            **os.environ,
            "SNAPSTATE_ENV_FILE": os.devnull,
            "SNAPSTATE_HOME": str(home),
            "PORT": str(self.port),
            "REDIS_URL": servers.redis_url,
            "CELERY_BROKER_URL": servers.broker_url,
            "DATABASE_URL": servers.database_url,
            "ADMIN_SECRET": secrets.token_hex(16),
            "WEB_CONCURRENCY": "2",
            "WEBHOOK_ALLOW_HTTP": "true",
            "WEBHOOK_PRIVATE_NETWORKS": "127.0.0.0/8",
            "PYTHONUNBUFFERED": "1",
        }
        self.processes = {process.name: self.ours(process) for process in processes(home, self.hear)}

    def ours(self, process: Process) -> Process:
        process.env = self.env
        return process

    def hear(self, name: str, line: str) -> None:
        self.lines.append((name, line))

    def heard(self, text: str, since: int = 0) -> bool:
        return any(text in line for _, line in self.lines[since:])

    def __getattr__(self, name: str) -> Process:
        try:
            return self.processes[name]
        except KeyError:
            raise AttributeError(name) from None

    # --- Life and death ---

    def start(self) -> None:
        os.chdir(BASE_DIR)
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity=0"], env=self.env, check=True)
        for process in self.processes.values():
            process.start()
        self.wait_for_web()

    def stop(self) -> None:
        for process in reversed(self.processes.values()):
            process.send(process.stop_signal)
        for process in self.processes.values():
            process.wait()

    def kill(self, name: str) -> None:
        """kill -9 of a part and of all its children; servers leave on their own what they started."""
        part = getattr(self, name)
        part.kill()
        if name in self.processes:
            part.sweep()

    def start_again(self, name: str) -> None:
        getattr(self, name).start()
        if name == "web":
            self.wait_for_web()

    def wait_for_postgres(self) -> None:
        """One whose session was killed recovers by itself."""
        assert wait_until(self.postgres.answers, seconds=PATIENCE_SECONDS, step=0.1)

    def wait_for_web(self) -> None:
        def ready() -> bool:
            try:
                return httpx.get(f"{self.url}/ready", timeout=5, trust_env=False).status_code == 200
            except httpx.TransportError:
                return False

        assert wait_until(ready, seconds=PATIENCE_SECONDS, step=0.1), self.last_words()

    @contextmanager
    def intake_that(self, *what: str) -> Iterator[Process]:
        """Intake as it is, but for one thing that befalls it (see intake_that.py); the ordinary one rests meanwhile."""
        self.intake.stop()
        odd = self.ours(Process(f"intake that {what[0]}", [sys.executable, "-m", DRIVER, *what], log=self.hear))
        odd.start()
        try:
            yield odd
        finally:
            odd.kill()
            odd.sweep()
            self.intake.start()

    @contextmanager
    def second_intake(self) -> Iterator[Process]:
        """An ordinary one beside the first, killed at the end."""
        second = self.ours(Process("second intake", self.intake.command, log=self.hear))
        lines = len(self.lines)
        second.start()
        try:
            assert within(PATIENCE_SECONDS, lambda: self.heard("intake_started", lines)), self.last_words()
            yield second
        finally:
            second.sweep()

    def mend(self) -> list[str]:
        """Whatever a test left dead or frozen runs again; what was dead."""
        parts = {name: getattr(self, name) for name in ("store", "broker", "postgres", *self.processes)}
        dead = [name for name, part in parts.items() if not part.running]
        for name, part in parts.items():
            part.send(signal.SIGCONT)
            if name in dead:
                part.start()
        self.wait_for_postgres()
        self.wait_for_web()
        return dead

    def worker_answers(self) -> bool:
        ping = [sys.executable, "-m", "celery", "-A", "snapstate_project", "inspect", "ping", "--timeout=5"]
        return subprocess.run(ping, env=self.env, capture_output=True, check=False).returncode == 0

    @contextmanager
    def postgres_frozen(self) -> Iterator[None]:
        """With all its sessions."""
        listed = Path(f"/proc/{self.postgres.pid}/task/{self.postgres.pid}/children").read_text().split()
        family = [self.postgres.pid, *map(int, listed)]
        for pid in family:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in family:
                os.kill(pid, signal.SIGCONT)

    def pids(self) -> dict[str, int]:
        """Of our own processes that run."""
        return {name: process.pid for name, process in self.processes.items() if process.running}

    def signal(self, name: str, number: signal.Signals) -> None:
        os.kill(getattr(self, name).pid, number)

    def last_words(self) -> str:
        return "\n".join(f"{name}: {line}" for name, line in self.lines[-60:])

    # --- The archive ---

    def expire_everything(self) -> None:
        """Every workflow is due, and a pass is made now: what is in a segment leaves Redis and its rows."""
        now = "SET archive_at = CASE WHEN archive_at IS NULL THEN NULL ELSE now() END, expires_at = now()"
        leaving = "evict_at = CASE WHEN evict_at IS NULL THEN NULL ELSE now() END"
        self.sql(f"UPDATE checkpoints_workflow {now}, {leaving} WHERE head_step IS NOT NULL RETURNING id")
        passing = [sys.executable, "-c", PASS]
        subprocess.run(passing, env=self.env, capture_output=True, check=False, timeout=PATIENCE_SECONDS)

    @contextmanager
    def archive_refusing(self) -> Iterator[None]:
        """What stands at the archive's place is no folder: every call of it fails."""
        place, aside = self.home / "archive", self.home / "archive aside"
        place.mkdir(exist_ok=True)
        place.rename(aside)
        place.touch()
        try:
            yield
        finally:
            place.unlink()
            aside.rename(place)

    # --- Looking at it ---

    def redis(self) -> redis_py.Redis:
        return redis_py.Redis.from_url(self.store.url, socket_timeout=10)

    def flush_redis(self) -> None:
        """The loss of everything in Redis: heads, tails, queue, keys, scripts."""
        with self.redis() as client:
            client.flushall()

    def sql(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.postgres.url, autocommit=True, connect_timeout=5) as connection:
            return connection.execute(query.encode(), values).fetchall()

    def queued(self) -> int:
        with self.redis() as client:
            return sum(int(client.xlen(f"events:{{{shard:02d}}}")) for shard in SHARDS)

    def is_caught_up(self) -> bool:
        """The queue is looked at first: what leaves it is heard of later."""
        behind = "SELECT 1 FROM events_subscribercursor WHERE position < (SELECT max(id) FROM events_event)"
        try:
            return self.queued() == 0 and not self.sql(behind)
        except (psycopg.OperationalError, redis_py.RedisError):
            return False

    def catch_up(self, *, seconds: float = PATIENCE_SECONDS) -> float:
        """Wait until nothing waits in Redis and every subscriber has heard everything; the seconds that took."""
        began = time.monotonic()
        assert wait_until(self.is_caught_up, seconds=seconds, step=0.05), f"not caught up\n{self.last_words()}"
        return time.monotonic() - began

    # --- Using it ---

    def tenant(self, *, limit: int = 1_000_000) -> Tenant:
        headers = {"Authorization": f"Bearer {self.env['ADMIN_SECRET']}"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False) as admin:
            email = f"{uuid.uuid4().hex}@example.com"
            account = admin.post("/admin/accounts", json={"email": email}).raise_for_status().json()["id"]
            admin.patch(f"/admin/accounts/{account}", json={"rate_limit_max": limit}).raise_for_status()
        return Tenant(account, self.another_key(account))

    def another_key(self, account: str) -> str:
        headers = {"Authorization": f"Bearer {self.env['ADMIN_SECRET']}"}
        url = f"{self.url}/admin/accounts/{account}/keys"
        answer = httpx.post(url, json={}, headers=headers, timeout=30, trust_env=False).raise_for_status()
        return str(answer.json()["api_key"])


@contextmanager
def running(home: Path) -> Iterator[Stack]:
    """With `appendfsync always`: nothing that Redis acknowledged may be lost with it."""
    with servers(home, appendfsync="always") as embedded:
        stack = Stack(home, embedded)
        try:
            stack.start()
            yield stack
        finally:
            stack.stop()


def within(seconds: float, fact: Callable[[], bool]) -> bool:
    return wait_until(fact, seconds=seconds, step=0.05)
