"""One supervised process: started tied to us, its output given on line by line, stopped by signal and waited for."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Log = Callable[[str, str], None]  # (name of the process, line)
TETHER = Path(__file__).with_name("tether.py")


def say_nothing(name: str, line: str) -> None:
    """The log of those who want none."""


class Process:
    """A command that can be started, stopped, killed and started again.

    Start it from a thread that lives as long as the command should: on Linux the tie is to that thread.
    """

    stop_signal = signal.SIGTERM
    stop_seconds = 15.0

    def __init__(self, name: str, command: Sequence[str], *, log: Log = say_nothing, user: str = "-") -> None:
        self.name = name
        self.command = list(command)
        self.log = log
        self.user = user
        self.env: Mapping[str, str] = os.environ
        self.pause: Callable[[float], object] = time.sleep  # what a start waits with; it may raise to give up
        self.last_lines: deque[str] = deque(maxlen=12)
        self.popen: subprocess.Popen[str] | None = None
        self.reader: threading.Thread | None = None

    @property
    def pid(self) -> int:
        if self.popen is None:
            raise RuntimeError(f"{self.name} was never started")
        return self.popen.pid

    @property
    def running(self) -> bool:
        return self.popen is not None and self.popen.poll() is None

    @property
    def ended_well(self) -> bool:
        return self.popen is not None and self.popen.poll() == 0

    @property
    def ending(self) -> str:
        """How it ended, in words."""
        status = None if self.popen is None else self.popen.poll()
        if status is None:
            return "still running"
        return f"exit status {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"

    def spawn(self) -> None:
        self.last_lines.clear()
        tied = [sys.executable, "-IS", str(TETHER), str(os.getpid()), str(int(self.stop_signal)), self.user]
        self.popen = subprocess.Popen(
            [*tied, *self.command],
            env=dict(self.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C reaches us alone; we stop the children in order
        )
        self.reader = threading.Thread(target=self.read, args=(self.popen,), daemon=True, name=f"log-{self.name}")
        self.reader.start()

    def read(self, popen: "subprocess.Popen[str]") -> None:
        assert popen.stdout is not None
        with popen.stdout as lines:
            for line in lines:
                self.last_lines.append(line.rstrip())
                if self.is_news(line):
                    self.log(self.name, line.rstrip())

    def is_news(self, line: str) -> bool:
        """Whether a line is worth passing on."""
        return bool(line.strip())

    def start(self) -> None:
        self.spawn()

    def send(self, signal_number: int) -> None:
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal_number)

    def stop(self) -> None:
        self.send(self.stop_signal)
        self.wait()

    def wait(self) -> None:
        """Wait for one that was asked to stop, and take down the whole group of one that does not listen."""
        if self.popen is None:
            return
        try:
            self.popen.wait(self.stop_seconds)
        except subprocess.TimeoutExpired:
            self.log(self.name, f"did not stop within {self.stop_seconds:.0f} s and is killed")
        self.sweep()

    def sweep(self) -> None:
        """Kill whatever is left of the process and of the group it led; wait for its last words."""
        if self.popen is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()
        if self.reader is not None:
            self.reader.join(timeout=2)

    def kill(self) -> None:
        """kill -9, as a test or a bad day does it."""
        self.send(signal.SIGKILL)
        if self.popen is not None:
            self.popen.wait()

    def restart(self) -> None:
        self.stop()
        self.start()


def wait_until(
    ready: Callable[[], bool], *, seconds: float, pause: Callable[[float], object] = time.sleep, step: float = 0.02
) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if ready():
            return True
        pause(step)
    return ready()
