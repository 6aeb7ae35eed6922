"""From the event loop to what blocks: for each tier a few threads of its own, bounded, timed, and behind a circuit.

One tier's trouble takes no thread from another's work, and once it is known to be dead its callers are told at once.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connection

from snapstate_project.common.circuit import Circuit
from snapstate_project.common.errors import PostgresDown, ServiceUnavailable
from snapstate_project.common.outages import is_postgres_outage, is_read_only

THREADS = 8
WAITING_AT_MOST = 512
LOOK_SECONDS = 2.0
STANDSTILL_SECONDS = 3.0


class Threads:
    """A tier's threads, each with its own database connection should it need one."""

    tier = ""
    timeout_setting = ""
    down: type[ServiceUnavailable] = ServiceUnavailable

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix=self.tier.lower())
        self.running: set[Future[Any]] = set()
        self.circuit = Circuit(self.tier.lower(), self.look_in_time)
        self.moved_at = 0.0

    def is_outage(self, error: Exception) -> bool | None:
        """Whether an error says that the tier is not there; None when it does not say."""
        raise NotImplementedError

    def look(self) -> None:
        """Asks the tier for a sign of life."""
        raise NotImplementedError

    async def look_in_time(self) -> None:
        async with asyncio.timeout(LOOK_SECONDS):
            await asyncio.wrap_future(self.submit(self.look))

    async def run[**P, T](self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs `fn` outside the loop; raises `down` when the tier is, is too slow, or too many wait for it already.

        When the caller is cancelled or gives up, `fn` is dropped if it waits still, and ends unheard if it runs.
        """
        self.refuse_what_is_in_vain()
        seconds: float = getattr(settings, self.timeout_setting)
        future = self.submit(partial(fn, *args, **kwargs))
        try:
            async with asyncio.timeout(seconds) as timer:
                result: T = await asyncio.wrap_future(future)
        except TimeoutError as error:
            self.learn(True if timer.expired() else self.is_outage(error))
            if not timer.expired():
                raise
            raise self.down(f"{self.tier} did not answer in time: try again in a moment.") from None
        except Exception as error:
            self.learn(self.is_outage(error))
            if (ours := self.translated(error)) is error:
                raise
            raise ours from error
        self.learn(False)
        return result

    def refuse_what_is_in_vain(self) -> None:
        if len(self.running) >= WAITING_AT_MOST:
            raise self.down(f"Too many requests are waiting for {self.tier}: try again in a moment.")
        stands_still = len(self.running) >= self.threads and time.monotonic() - self.moved_at > STANDSTILL_SECONDS
        if stands_still or not self.circuit.admits():
            raise self.down

    def submit(self, work: Callable[[], Any]) -> "Future[Any]":
        if len(self.running) < self.threads:
            self.moved_at = time.monotonic()
        future = self.pool.submit(copy_context().run, with_connections, work)
        self.running.add(future)
        future.add_done_callback(self.ended)
        return future

    def ended(self, future: "Future[Any]") -> None:
        self.running.discard(future)
        self.moved_at = time.monotonic()

    def learn(self, outage: bool | None) -> None:
        if outage:
            self.circuit.failed()
        elif outage is False:
            self.circuit.succeeded()

    def translated(self, error: Exception) -> Exception:
        return error


class OrmThreads(Threads):
    tier = "Postgres"
    timeout_setting = "POSTGRES_TIMEOUT_SECONDS"
    down = PostgresDown

    def is_outage(self, error: Exception) -> bool | None:
        """What the server itself answered with a code is none, unless the code says that it is leaving or full."""
        if isinstance(error, ServiceUnavailable):
            return None
        if not isinstance(error, OperationalError | InterfaceError):
            return False
        if error.__cause__ is None:
            return None
        code: str | None = getattr(error.__cause__, "sqlstate", None)
        return code is None or code.startswith(("08", "57P")) or code == "53300"

    def look(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    def translated(self, error: Exception) -> Exception:
        return PostgresDown() if is_postgres_outage(error) else error


def with_connections[T](work: Callable[[], T]) -> T:
    close_old_connections()
    try:
        return work()
    except Exception as error:
        if is_read_only(error):  # this connection leads to who was the primary; a new one to who is
            connection.close()
        raise
    finally:
        close_old_connections()


orm = OrmThreads(THREADS)
in_thread = orm.run
"""The only way from the event loop to the ORM."""
