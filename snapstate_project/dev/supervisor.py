"""Keeps processes alive: one that dies is started again, one that keeps dying ends all, a signal ends it well."""

import signal
import threading
import time
from collections import defaultdict, deque

from snapstate_project.dev import orphans
from snapstate_project.dev.parent import Make
from snapstate_project.dev.process import Log, Process
from snapstate_project.dev.server import Server

DEATHS = 5
WITHIN_SECONDS = 60.0


class Interrupted(Exception):
    """SIGINT, SIGTERM or SIGHUP came."""


class KeepsDying(Exception):
    """A process died five times within a minute; the message says how."""


class Supervisor:
    """Servers are stopped after the processes that use them, in the reverse order of their start."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.processes: list[Process] = []
        self.deaths: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=DEATHS))
        self.asked_to_stop = threading.Event()
        self.make = Make()

    def listen(self) -> None:
        """From now on a signal ends the next pause, not what is being done; `nohup` is respected."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, lambda *_: self.asked_to_stop.set())

    def pause(self, seconds: float) -> None:
        if self.asked_to_stop.wait(seconds) or self.make.wants_us_to_stop():
            raise Interrupted

    def start(self, process: Process) -> None:
        process.pause = self.pause
        self.processes.append(process)
        process.start()

    def run_once(self, process: Process) -> bool:
        """Run to the end, and say whether it went well."""
        process.pause = self.pause
        try:
            process.start()
            while process.running:
                self.pause(0.02)
            return process.ended_well
        finally:
            process.stop()

    def watch(self, seconds: float = 0.1) -> None:
        """One round: wait a little, then bring back what has died."""
        self.pause(seconds)
        orphans.reap(self.known())
        for process in self.processes:
            if not process.running:
                self.revive(process)

    def revive(self, process: Process) -> None:
        process.sweep()
        deaths = self.deaths[process.name]
        deaths.append(time.monotonic())
        if len(deaths) == DEATHS and deaths[-1] - deaths[0] < WITHIN_SECONDS:
            raise KeepsDying(
                f"{process.name} died {DEATHS} times within a minute, the last time with {process.ending}. "
                "Its last lines stand above."
            )
        self.log(process.name, f"died ({process.ending}); starting it again")
        process.start()

    def stop(self) -> None:
        """Our processes together, then the servers; nothing is left when this returns."""
        self.asked_to_stop.clear()  # from here on pauses are only pauses
        users = [process for process in self.processes if not isinstance(process, Server)]
        for process in users:
            process.send(process.stop_signal)
        for process in users:
            process.wait()
        for process in reversed(self.processes):
            if isinstance(process, Server):
                process.stop()
        orphans.end_all(self.known())

    def known(self) -> list[int]:
        return [process.popen.pid for process in self.processes if process.popen is not None]
