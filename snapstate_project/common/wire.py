"""One connection to Redis: replies come back in the order commands went out; a reply is never given to another's wait.

A command leaves at once when nothing else is under way, else with all others of its tick of the loop, in one write.
Nothing is ever sent twice.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, cast

import hiredis

from snapstate_project.common.errors import RedisDown

type Argument = bytes | str | int | float

NOTHING: Any = object()
CHECKS_A_TIMEOUT = 4
IDLE_CHECKS_A_PING = 30
MOST_BYTES_WAITING = 64 * 1024 * 1024

OUTAGES = {
    "BUSY": "Redis is busy running a script.",
    "CLUSTERDOWN": "The Redis cluster is down.",
    "LOADING": "Redis is loading its data.",
    "MASTERDOWN": "Redis has lost its primary.",
    "MISCONF": "Redis cannot write to its disk.",
    "NOREPLICAS": "Redis has too few replicas to take writes.",
    "OOM": "Redis is out of memory.",
    "READONLY": "Redis is a read-only replica.",
    "TRYAGAIN": "Redis is moving its data.",
    "UNBLOCKED": "Redis has changed its role.",
}


class RedisError(Exception):
    """Redis refused a command: our mistake, not an outage."""


class NoScript(RedisError):
    """The script is not in the server's cache: nothing was run."""


class ReadOnly(RedisDown):
    """This server is no primary (any more): the next command needs another connection."""


def reply_error(message: str) -> Exception:
    """The exception an error reply means; given to hiredis, so it must not raise."""
    code = message.partition(" ")[0]
    if code == "NOSCRIPT":
        return NoScript(message)
    if code == "READONLY":
        return ReadOnly(OUTAGES[code])
    return RedisDown(OUTAGES[code]) if code in OUTAGES else RedisError(message)


class Wire(asyncio.Protocol):
    """Use from its own loop only. `lost` is done when the connection is gone; every wait has failed by then."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, timeout: float, limit: int, on_close: Callable[["Wire"], None]
    ) -> None:
        self.loop = loop
        self.on_close = on_close
        self.limit = limit
        self.check_every = timeout / CHECKS_A_TIMEOUT
        self.run_id = b""
        self.lost: asyncio.Future[None] = loop.create_future()
        self.waiting: deque[asyncio.Future[Any]] = deque()
        self.outgoing: list[bytes] = []
        self.sent = 0
        self.full = False
        self.reader = hiredis.Reader(replyError=reply_error, notEnoughData=NOTHING)
        self.transport: asyncio.Transport | None = None
        self.marks: deque[int] = deque(maxlen=CHECKS_A_TIMEOUT)
        self.idle_checks = 0

    def send(self, packed: bytes) -> asyncio.Future[Any]:
        """The reply, an exception if Redis answers with an error. Cancelling the future is harmless."""
        if self.transport is None:
            raise RedisDown("The connection to Redis was lost: try again in a moment.")
        if self.full or len(self.waiting) >= self.limit:
            raise RedisDown("Too many commands are waiting for Redis: try again in a moment.")
        reply = self.loop.create_future()
        if not self.waiting:
            self.transport.write(packed)
        else:
            if not self.outgoing:
                self.loop.call_soon(self.flush)
            self.outgoing.append(packed)
        self.waiting.append(reply)
        self.sent += 1
        return reply

    def flush(self) -> None:
        outgoing, self.outgoing = self.outgoing, []
        if self.transport is not None:
            self.transport.write(outgoing[0] if len(outgoing) == 1 else b"".join(outgoing))

    def close(self, reason: str) -> None:
        """Fails every wait now: whether their commands ran is not known."""
        transport, self.transport = self.transport, None
        if transport is not None:
            transport.abort()
        waiting, self.waiting = self.waiting, deque()
        for reply in waiting:
            if not reply.done():
                reply.set_exception(RedisDown(reason))
        if not self.lost.done():
            self.lost.set_result(None)
            self.on_close(self)

    # --- Called by the loop ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.set_write_buffer_limits(high=MOST_BYTES_WAITING)
        self.loop.call_later(self.check_every, self.check)

    def data_received(self, data: bytes) -> None:
        try:
            self.reader.feed(data)
            while (answer := self.reader.gets()) is not NOTHING:
                reply = self.waiting.popleft()
                if reply.done():
                    continue
                if isinstance(answer, Exception):
                    reply.set_exception(answer)
                else:
                    reply.set_result(answer)
        except (hiredis.ProtocolError, IndexError):
            self.close("Redis sent what could not be understood.")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 (asyncio names it)
        self.close("The connection to Redis was lost: whether the command ran is not known.")

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False

    def check(self) -> None:
        """Finds a frozen server. Time is counted in checks, so that a loop that stood still does not blame Redis."""
        if self.transport is None:
            return
        if len(self.marks) == self.marks.maxlen and self.sent - len(self.waiting) < self.marks[0]:
            self.close("Redis did not answer in time: whether the command ran is not known.")
            return
        self.idle_checks = 0 if self.marks and self.sent != self.marks[-1] else self.idle_checks + 1
        if self.idle_checks >= IDLE_CHECKS_A_PING and not self.waiting:
            self.send(pack("PING")).cancel()
        self.marks.append(self.sent)
        self.loop.call_later(self.check_every, self.check)


pack_command: Callable[[Sequence[Argument]], bytes] = cast(Any, hiredis).pack_command


def pack(*command: Argument) -> bytes:
    return pack_command(command)
