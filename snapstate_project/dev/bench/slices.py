"""What is asked of a contender's process for one slice of time, what it answers, and the process itself."""

import multiprocessing
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Protocol, cast

SPAWN = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class Order:
    """Do `operation` with states of `size` over so many connections, for `seconds` or until there is no more to do.

    `encoding`: states are turned into JSON within the measured time, as an agent's own process would do.
    """

    contender: str
    operation: str
    size: str
    seconds: float
    connections: int = 1
    encoding: bool = False


@dataclass
class Slice:
    """What was done: latencies in seconds, one per answer, and how many answers were no success, by status."""

    seconds: float
    latencies: list[float]
    failures: dict[str, int] = field(default_factory=dict)

    @property
    def done(self) -> int:
        return len(self.latencies) - sum(self.failures.values())

    @property
    def rate(self) -> float:
        return self.done / self.seconds if self.seconds else 0.0


class Driver(Protocol):
    def run(self, order: Order) -> Slice: ...


class Worker:
    """A process of its own for one driver, so that its CPU can be counted; it ends with us, however we end."""

    def __init__(self, make: Callable[..., Driver], *args: Any) -> None:
        self.pipe, theirs = SPAWN.Pipe()
        self.process = SPAWN.Process(target=serve, args=(theirs, make, args), daemon=True)
        self.process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        return cast(int, self.process.pid)

    def run(self, order: Order) -> Slice:
        self.begin(order)
        return self.finish()

    def begin(self, order: Order) -> None:
        self.pipe.send(order)

    def finish(self) -> Slice:
        answer = self.pipe.recv()
        if isinstance(answer, Exception):
            raise answer
        return cast(Slice, answer)

    def stop(self) -> None:
        self.pipe.close()
        self.process.join(timeout=5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def serve(pipe: "Connection[Any, Any]", make: Callable[..., Driver], args: tuple[Any, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who started us
    driver: Driver | None = None
    with suppress(EOFError, BrokenPipeError):
        while True:
            order = pipe.recv()
            try:
                driver = driver or make(*args)
                pipe.send(driver.run(order))
            except Exception as error:  # noqa: BLE001 (told to whoever asked)
                pipe.send(RuntimeError(f"{order.contender}, {order.operation} {order.size}: {error!r}"))
