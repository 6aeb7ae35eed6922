"""`make up` as a test runs it: a real process with a home and a port of its own, its screen read line by line."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from dotenv import dotenv_values

from snapstate_project.dev.home import BASE_DIR
from snapstate_project.dev.process import Process, wait_until
from snapstate_project.dev.server import free_port

READY = "SnapState is ready"
GIVEN_BY_TESTS = ("REDIS_URL", "CELERY_BROKER_URL", "DATABASE_URL", "ADMIN_SECRET", "DJANGO_SECRET_KEY", "PORT")


class Up(Process):
    """Tied to the test process like everything else we start, so a test that fails leaves nothing running."""

    stop_seconds = 40.0

    def __init__(self, home: Path, *command: str, **env: str) -> None:
        self.home = home
        self.lines: list[str] = []
        ours = (sys.executable, "-m", "snapstate_project.dev")
        super().__init__("up", command or ours, log=lambda _, line: self.lines.append(line))
        inherited = {name: value for name, value in os.environ.items() if name not in GIVEN_BY_TESTS}
        self.env = {**inherited, "SNAPSTATE_HOME": str(home), "PORT": str(free_port()), **env}

    @property
    def said(self) -> str:
        return "\n".join(self.lines)

    @property
    def dev_env(self) -> dict[str, str | None]:
        return dotenv_values(self.home / "dev.env")

    def start(self) -> "Up":  # type: ignore[override]
        """Wait for the screen; the working directory is the repository's, as make's is."""
        os.chdir(BASE_DIR)
        self.spawn()
        ready = wait_until(lambda: READY in self.said or not self.running, seconds=100)
        assert ready, self.said
        assert self.running, self.said
        return self

    def fail(self) -> int:
        """Run one that cannot start; its exit status."""
        os.chdir(BASE_DIR)
        self.spawn()
        assert self.popen is not None
        status = self.popen.wait(60)
        self.sweep()
        return status

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit status after this signal."""
        assert self.popen is not None
        self.send(number)
        status = self.popen.wait(90)
        if self.reader is not None:
            self.reader.join(2)
        return status

    def says(self, text: str, *, times: int = 1) -> bool:
        return wait_until(lambda: self.said.count(text) >= times, seconds=30)

    def child(self, word: str) -> int:
        """The process of our family whose command line has this word; the oldest, so a master and not its workers."""
        found: list[int] = []  # as they were when they were found: one may die, or be started again, at any time

        def look() -> bool:
            found[:] = self.children(word)
            return bool(found)

        assert wait_until(look, seconds=60), f"{word} does not run"
        return min(found)

    def children(self, word: str) -> list[int]:
        return [pid for pid in family(self.pid) if word in command_line(pid)]


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def family(pid: int) -> list[int]:
    """All descendants of a process, by number."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in (line.split() for line in listed.splitlines())}
    found = [pid]
    for known in found:
        found += [child for child, parent in parents.items() if parent == known]
    return found[1:]


def alive(pids: list[int]) -> list[str]:
    """The command lines of those that still run; a zombie waits only for its parent's parent and is none of ours."""
    return [line for line in map(command_line, pids) if line]


def gone(pids: list[int], *, seconds: float = 15) -> bool:
    return wait_until(lambda: not alive(pids), seconds=seconds)
