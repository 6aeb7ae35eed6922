"""The two ways to Redis: `link()` for the event loop, `client()` for everything cold; both give scripts the run_id."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from snapstate_project.common.errors import RedisDown
from snapstate_project.common.link import Link, Script, run_id_in
from snapstate_project.common.outages import REDIS_OUTAGES
from snapstate_project.common.wire import RedisError, reply_error

__all__ = ["Link", "RedisDown", "RedisError", "Script", "client", "link", "run_id_now", "run_script"]

here = threading.local()


def link() -> Link:
    """The link of the running event loop, made on first use; it ends with its loop."""
    loop = asyncio.get_running_loop()
    mine: Link | None = getattr(here, "link", None)
    if mine is None or mine.loop is not loop or mine.keeper.done():
        mine = here.link = Link(settings.REDIS_URL, timeout=settings.REDIS_TIMEOUT_SECONDS)
    return mine


@cache
def client() -> redis.Redis:
    """For code that runs outside the loop. Never sends a command twice; replies are bytes."""
    pool = redis.ConnectionPool.from_url(
        settings.REDIS_URL,
        protocol=2,
        socket_timeout=settings.REDIS_TIMEOUT_SECONDS,
        socket_connect_timeout=settings.REDIS_TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
        redis_connect_func=greet,
    )
    return redis.Redis(connection_pool=pool)


def greet(connection: Any) -> None:
    connection.on_connect()
    connection.send_command("INFO", "server")
    connection.run_id = run_id_in(connection.read_response())


def run_script(script: Script, keys: Sequence[bytes | str], args: Sequence[bytes | str | int]) -> Any:
    """As Link.run, in a thread: raises RedisDown when Redis is, RedisError when the script is wrong."""

    def call(connection: Any) -> Any:
        rest = (len(keys), *keys, connection.run_id, *args)
        try:
            return ask(connection, "EVALSHA", script.sha, *rest)
        except redis.exceptions.NoScriptError:
            return ask(connection, "EVAL", script.source, *rest)

    return on_one_connection(call)


def run_id_now() -> bytes:
    """The run_id of the server that answers at this moment."""
    return on_one_connection(lambda connection: run_id_in(ask(connection, "INFO", "server")))


def ask(connection: Any, *command: Any) -> Any:
    connection.send_command(*command)
    return connection.read_response()


def on_one_connection[T](call: Callable[[Any], T]) -> T:
    """A connection that lives, so that its run_id is the server's, and that is not replaced in between."""
    pool = client().connection_pool
    with outages_as_ours():
        connection = cast(Any, pool.get_connection())
        try:
            return call(connection)
        finally:
            pool.release(connection)


@contextmanager
def outages_as_ours() -> Iterator[None]:
    try:
        yield
    except REDIS_OUTAGES as error:
        raise RedisDown from error
    except redis.exceptions.ResponseError as error:
        raise reply_error(str(error)) from error
