"""A process of ours on the run's own servers, for as long as a test needs it."""

import os
import signal
import sys
import time
from pathlib import Path

import httpx

from snapstate_project.dev.process import Process, wait_until

GUNICORN = [sys.executable, "-m", "gunicorn", "-c", "python:snapstate_project.gunicorn"]
WEB = [*GUNICORN, "snapstate_project.asgi:application"]


class Running:
    """A process of ours, told to stop by `leave`, which returns how long that took."""

    def __init__(self, name: str, command: list[str], **environment: str) -> None:
        self.process = Process(name, command)
        self.process.env = {**os.environ, "PYTHONUNBUFFERED": "1", "LOG_LEVEL": "INFO", **environment}

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.process.sweep()

    def says(self, text):
        return wait_until(lambda: any(text in line for line in list(self.process.last_lines)), seconds=30, step=0.05)

    def leave(self):
        began = time.monotonic()
        self.process.send(signal.SIGTERM)
        assert wait_until(lambda: not self.process.running, seconds=20)
        return time.monotonic() - began

    def group(self):
        """What is left of the process and of those it has forked."""
        return [pid for pid in Path("/proc").glob("[0-9]*") if group_of(pid) == self.process.pid]


def group_of(pid):
    try:
        stat = (pid / "stat").read_text().rpartition(")")[2].split()
        return int(stat[2]) if stat[0] != "Z" else 0
    except OSError:
        return 0


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready", timeout=5, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False
