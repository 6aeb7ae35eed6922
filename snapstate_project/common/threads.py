"""The only way from the event loop to the ORM: a bounded pool of threads, each with its own database connection."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections

from snapstate_project.common.errors import PostgresDown

THREADS = 8
WAITING_AT_MOST = 512
pool = ThreadPoolExecutor(THREADS, thread_name_prefix="orm")
running: set[Future[Any]] = set()


async def in_thread[**P, T](fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs `fn` outside the loop; raises PostgresDown when Postgres is, is too slow, or too many wait already.

    When the caller is cancelled or gives up, `fn` is dropped if it waits still, and ends unheard if it runs.
    """
    if len(running) >= WAITING_AT_MOST:
        raise PostgresDown("Too many requests are waiting for Postgres: try again in a moment.")
    future = pool.submit(copy_context().run, with_connections, partial(fn, *args, **kwargs))
    running.add(future)
    future.add_done_callback(running.discard)
    try:
        async with asyncio.timeout(settings.POSTGRES_TIMEOUT_SECONDS) as timer:
            return await asyncio.wrap_future(future)
    except TimeoutError:
        if not timer.expired():
            raise
        raise PostgresDown("Postgres did not answer in time: try again in a moment.") from None
    except (OperationalError, InterfaceError) as error:
        raise PostgresDown from error


def with_connections[T](work: Callable[[], T]) -> T:
    close_old_connections()
    try:
        return work()
    finally:
        close_old_connections()
