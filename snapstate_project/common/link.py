"""The hot path's way to Redis: one connection for all requests of an event loop, kept up by a task of its own.

A command whose connection died is never sent again: its caller gets RedisDown.
"""

import asyncio
import hashlib
import logging
import os
import ssl
from collections.abc import Callable, Sequence
from contextvars import Context
from pathlib import Path
from random import uniform
from typing import Any

from redis.asyncio.connection import parse_url

from snapstate_project.common.errors import RedisDown
from snapstate_project.common.wire import Argument, NoScript, ReadOnly, RedisError, Wire, pack

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 0.5
SHORTEST_PAUSE_SECONDS = 0.02
LONGEST_PAUSE_SECONDS = 1.0
WAITING_AT_MOST = 10_000
TOLD_EVERY_SECONDS = 60.0


class Script:
    """A Lua script; its first argument, ARGV[1], is always the run_id of the server that runs it."""

    def __init__(self, *paths: Path, allow_oom: bool = False) -> None:
        """The files are joined, so that scripts can begin with what they share. A full Redis refuses all of a script,
        reads too, unless its first line says otherwise."""
        self.source = b"\n".join(path.read_bytes() for path in paths)
        if allow_oom:
            self.source = self.source.replace(b"#!lua\n", b"#!lua flags=allow-oom\n", 1)
        self.sha = hashlib.sha1(self.source, usedforsecurity=False).hexdigest()


class Link:
    """Use from the loop it was made in. Replies are bytes, ints, None or lists of them."""

    def __init__(self, url: str, *, timeout: float, limit: int = WAITING_AT_MOST) -> None:
        self.loop = asyncio.get_running_loop()
        self.address: dict[str, Any] = dict(parse_url(url))
        self.timeout = timeout
        self.limit = limit
        self.wire: Wire | None = None
        self.up = asyncio.Event()
        self.down_since = self.loop.time()
        self.told, self.told_at = "", 0.0
        self.keeper = self.loop.create_task(self.keep(), context=Context())  # its log lines belong to no request

    @property
    def run_id(self) -> bytes:
        """The server's run_id, read when this connection began; empty while there is none."""
        return self.wire.run_id if self.wire else b""

    async def execute(self, *command: Argument) -> Any:
        wire = self.wire or await self.connected()
        return await self.answer(wire, pack(*command))

    async def pipeline(self, commands: Sequence[Sequence[Argument]]) -> list[Any]:
        """All replies, or the first error: the other commands have run all the same."""
        wire = self.wire or await self.connected()
        replies = await asyncio.gather(*[wire.send(pack(*command)) for command in commands], return_exceptions=True)
        for reply in replies:
            if isinstance(reply, BaseException):
                raise reply
        return replies

    async def run(
        self,
        script: Script,
        keys: Sequence[bytes | str],
        args: Sequence[bytes | str | int],
        *,
        meanwhile: Callable[[], None] | None = None,
    ) -> Any:
        """The script's reply. ARGV[1] is the run_id of the very connection that carries the command.

        `meanwhile` is called once, when the command is on its way.
        """
        wire = self.wire or await self.connected()
        try:
            packed = pack("EVALSHA", script.sha, len(keys), *keys, wire.run_id, *args)
            return await self.answer(wire, packed, meanwhile)
        except NoScript:
            wire = self.wire or await self.connected()
            return await self.answer(wire, pack("EVAL", script.source, len(keys), *keys, wire.run_id, *args))

    async def answer(self, wire: Wire, packed: bytes, meanwhile: Callable[[], None] | None = None) -> Any:
        try:
            reply = wire.send(packed)
            if meanwhile is not None:
                meanwhile()
            return await reply
        except ReadOnly:
            wire.close("Redis is a read-only replica.")
            raise

    async def close(self) -> None:
        self.keeper.cancel()
        await asyncio.gather(self.keeper, return_exceptions=True)

    async def connected(self) -> Wire:
        """The wire, or RedisDown: callers wait only while the connection has been away for a moment."""
        left = self.down_since + PATIENCE_SECONDS - self.loop.time()
        if left > 0 and not self.keeper.done():
            try:
                async with asyncio.timeout(left):
                    await self.up.wait()
            except TimeoutError:
                pass
        if self.wire is None:
            raise RedisDown
        return self.wire

    async def keep(self) -> None:
        """Connects, and connects again with back-off, until it is cancelled (at the latest when its loop ends)."""
        pause = 0.0
        while True:
            began = self.loop.time()
            try:
                await self.hold()
            except (OSError, TimeoutError, RedisDown, RedisError) as error:
                self.tell(f"no connection to Redis: {type(error).__name__}: {error}")
            lasted = self.loop.time() - began > LONGEST_PAUSE_SECONDS
            pause = 0.0 if lasted else min(LONGEST_PAUSE_SECONDS, max(SHORTEST_PAUSE_SECONDS, pause * 2))
            await asyncio.sleep(pause * uniform(0.5, 1.0))  # noqa: S311 (only spreads reconnects)

    def tell(self, failure: str) -> None:
        """Each new failure once, and then once a minute."""
        if failure != self.told or self.loop.time() - self.told_at > TOLD_EVERY_SECONDS:
            self.told, self.told_at = failure, self.loop.time()
            logger.warning(failure)

    async def hold(self) -> None:
        """One connection, from the dialling to its loss."""
        wire = Wire(self.loop, timeout=self.timeout, limit=self.limit, on_close=self.forget)
        try:
            async with asyncio.timeout(self.timeout):
                await self.dial(wire)
                await self.greet(wire)
            self.wire = wire
            self.up.set()
            self.told = ""
            await wire.lost
            logger.warning("the connection to Redis was lost")
        finally:
            wire.close("The connection to Redis was closed.")

    def forget(self, wire: Wire) -> None:
        """Called in the moment of the loss, so that no later command is given to a dead connection."""
        if self.wire is wire:
            self.wire = None
            self.up.clear()
            self.down_since = self.loop.time()

    async def dial(self, wire: Wire) -> None:
        if "path" in self.address:
            await self.loop.create_unix_connection(lambda: wire, self.address["path"])
            return
        host, port = self.address.get("host", "127.0.0.1"), self.address.get("port", 6379)
        await self.loop.create_connection(lambda: wire, host, port, ssl=tls(self.address))

    async def greet(self, wire: Wire) -> None:
        """Who we are and which database, then who the server is: before any script can be sent."""
        if password := self.address.get("password"):
            user = self.address.get("username")
            await wire.send(pack("AUTH", user, password) if user else pack("AUTH", password))
        if database := self.address.get("db"):
            await wire.send(pack("SELECT", database))
        await asyncio.gather(wire.send(pack("CLIENT", "SETNAME", f"snapstate:{os.getpid()}")), return_exceptions=True)
        wire.run_id = run_id_in(await wire.send(pack("INFO", "server")))


def run_id_in(info: bytes) -> bytes:
    for line in info.splitlines():
        if line.startswith(b"run_id:"):
            return line[7:].strip()
    raise RedisDown("The server names no run_id.")


def tls(address: dict[str, Any]) -> ssl.SSLContext | None:
    """As redis-py reads the URL: `rediss://`, with `ssl_ca_certs` and `ssl_cert_reqs=none` if need be."""
    if "connection_class" not in address:
        return None
    context = ssl.create_default_context(cafile=address.get("ssl_ca_certs"))
    if str(address.get("ssl_cert_reqs")) == "none":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
