"""A server of ours on a free port of the loopback: ready when it answers, the same port and data when it comes back."""

import socket
import time
from pathlib import Path

from snapstate_project.dev.errors import CannotStart
from snapstate_project.dev.process import Process

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


class Server(Process):
    """Start returns when the server answers; `kill` and `start` bring it back on its own data."""

    start_seconds = 60.0
    folder: Path

    def answers(self) -> bool:
        raise NotImplementedError

    def start(self) -> None:
        self.spawn()
        deadline = time.monotonic() + self.start_seconds
        while not self.answers():
            if not self.running and not self.try_again():
                raise CannotStart(self.why_not())
            if time.monotonic() > deadline:
                self.stop()
                raise CannotStart(f"{self.name} did not answer within {self.start_seconds:.0f} seconds.")
            self.pause(0.02)

    def try_again(self) -> bool:
        """Whether a start that failed was only too early; then it has been started again."""
        return False

    def why_not(self) -> str:
        self.sweep()
        said = "\n  ".join(self.last_lines) or "(nothing)"
        return (
            f"{self.name} stopped right after its start ({self.ending}), perhaps over its data in {self.folder}. "
            f"It said:\n  {said}"
        )
