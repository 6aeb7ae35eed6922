"""A proxy that treats HTTP badly by a seeded script: what was asked is done at the server, or not, and the client errs.

`with faulty(base_url, seed=1) as proxy: client(proxy.url)`, and `proxy.met` counts the faults. It speaks HTTP/1.1 and
needs only the standard library. `python -m tests.clients.faults URL [seed]` prints its address and ends with its input.
"""

import asyncio
import json
import random
import re
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from email.utils import formatdate
from enum import StrEnum
from hashlib import blake2b
from urllib.parse import urlsplit

BLANK_LINE = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length:\s*(\d+)\r\n")
WITHOUT_BODY = re.compile(rb"HTTP/1.1 (204|304|1\d\d) ")
RESET = struct.pack("ii", 1, 0)
LIMIT = 16 * 1024 * 1024
type Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

GONE = (OSError, EOFError, asyncio.IncompleteReadError, ConnectionError)


class Fault(StrEnum):
    DROPS_UNSENT = "drops_unsent"  # the server never hears of it
    DROPS_AFTER_COMMIT = "drops_after_commit"  # the server did it, and the client hears nothing
    UNAVAILABLE = "unavailable"  # 503 with Retry-After, in one of its two forms; the server never hears of it
    HALF = "half"  # the server did it, and half of its answer arrives
    SLOW = "slow"  # the answer comes in pieces
    REFUSES = "refuses"  # the answer arrives; then, for a moment, nobody can connect


class Script:
    """Which request meets which fault: the same seed and requests, the same faults; each request at most `most`."""

    def __init__(self, *, seed: int, rate: float, faults: Sequence[Fault], most: int) -> None:
        self.random = random.Random(seed)
        self.rate, self.faults, self.most = rate, faults, most
        self.met_by: Counter[bytes] = Counter()

    def fault_for(self, request: bytes) -> Fault | None:
        name = blake2b(request, digest_size=8).digest()
        fault = self.random.choice(self.faults) if self.random.random() < self.rate else None
        if fault is None or self.met_by[name] >= self.most:
            return None
        self.met_by[name] += 1
        return fault


class FaultyProxy:
    def __init__(self, url: str, script: Script, *, slow_seconds: float, refusing_seconds: float) -> None:
        parts = urlsplit(url)
        self.server_at = (parts.hostname or "", parts.port or 80)
        self.script, self.slow_seconds, self.refusing_seconds = script, slow_seconds, refusing_seconds
        self.met: Counter[Fault] = Counter()
        self.passed = 0  # answers that arrived whole
        self.port, self.url = 0, ""
        self.loop = asyncio.new_event_loop()
        self.listening = threading.Event()
        self.done = asyncio.Event()
        self.open: set[asyncio.StreamWriter] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.thread = threading.Thread(target=self.loop.run_until_complete, args=(self.run(),), name="faulty-proxy")

    async def run(self) -> None:
        await self.listen()
        self.url = f"http://127.0.0.1:{self.port}"
        self.listening.set()
        await self.done.wait()
        self.listener.close()
        while waiting := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in waiting:
                task.cancel()
            await asyncio.wait(waiting)
        for writer in list(self.open):
            writer.transport.abort()
        await asyncio.sleep(0)  # what was aborted is closed in the loop's next round

    async def listen(self) -> None:
        self.listener = await asyncio.start_server(self.accept, "127.0.0.1", self.port, limit=LIMIT, backlog=512)
        self.port = self.listener.sockets[0].getsockname()[1]

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Notes it at once: a task that is cancelled before its first step would never close it."""
        self.open.add(writer)
        task = self.loop.create_task(self.serve(reader, writer))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of a client, and the one of ours that it is led over."""
        try:
            server = await asyncio.open_connection(*self.server_at, limit=LIMIT)
            try:
                while True:
                    await self.treat(await read_message(reader), writer, server)
            finally:
                server[1].transport.abort()
        except GONE:
            pass
        finally:
            writer.close()
            self.open.discard(writer)

    async def treat(self, request: bytes, client: asyncio.StreamWriter, server: Streams) -> None:
        fault = self.script.fault_for(request)
        self.met.update([fault] if fault else [])
        if fault is Fault.UNAVAILABLE:
            client.write(self.unavailable())
            return
        if fault is Fault.DROPS_UNSENT:
            raise self.dropped(client)
        server[1].write(request)
        answer = await read_message(server[0], to_head=request.startswith(b"HEAD "))
        if fault is Fault.DROPS_AFTER_COMMIT:
            raise self.dropped(client)
        if fault is Fault.HALF:
            client.write(answer[: len(answer) // 2])
            raise ConnectionAbortedError
        await self.pass_on(answer, client, in_pieces=fault is Fault.SLOW)
        if fault is Fault.REFUSES:
            await self.refuse()
            raise ConnectionAbortedError

    def dropped(self, client: asyncio.StreamWriter) -> ConnectionError:
        """The connection ends by a reset, or as if the answer had been empty."""
        if self.script.random.random() < 0.5:
            client.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        client.transport.abort()
        return ConnectionAbortedError()

    def unavailable(self) -> bytes:
        """As a load balancer's, or as our server's; to be asked again at once, or in a second."""
        after = self.script.random.choice(["0", "0", "0", "1", formatdate(time.time(), usegmt=True)])
        error = {"code": "SERVICE_UNAVAILABLE", "message": "try again", "request_id": "0"}
        kind, body = self.script.random.choice(
            [("text/plain", b"no server is available"), ("application/json", json.dumps({"error": error}).encode())]
        )
        lines = f"HTTP/1.1 503 Unavailable\r\nContent-Type: {kind}\r\nRetry-After: {after}\r\n"
        return f"{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body

    async def pass_on(self, answer: bytes, client: asyncio.StreamWriter, *, in_pieces: bool) -> None:
        size = max(len(answer) // 3, 1) if in_pieces else len(answer)
        for first in range(0, len(answer), size):
            if in_pieces:
                await asyncio.sleep(self.slow_seconds / 3)
            client.write(answer[first : first + size])
            await client.drain()
        self.passed += 1

    async def refuse(self) -> None:
        """Whoever connects within this moment is refused; one moment at a time."""
        if not self.listener.is_serving():
            return
        self.listener.close()
        await asyncio.sleep(self.refusing_seconds)
        await self.listen()

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.done.set)
        self.thread.join(10)
        self.loop.close()


async def read_message(reader: asyncio.StreamReader, *, to_head: bool = False) -> bytes:
    """One whole request or answer, as it came."""
    head = await reader.readuntil(BLANK_LINE)
    if to_head or WITHOUT_BODY.match(head):
        return head
    if length := LENGTH.search(head.lower()):
        return head + await reader.readexactly(int(length[1]))
    return head + await read_chunks(reader) if b"\r\ntransfer-encoding: chunked" in head.lower() else head


async def read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while True:
        line = await reader.readuntil(b"\r\n")
        size = int(line.split(b";")[0], 16)
        body += line + await reader.readexactly(size + 2)
        if size == 0:
            return body


@contextmanager
def faulty(
    url: str,
    *,
    seed: int = 1,
    rate: float = 0.25,
    faults: Sequence[Fault] = tuple(Fault),
    most: int = 2,
    slow_seconds: float = 0.1,
    refusing_seconds: float = 0.05,
) -> Iterator[FaultyProxy]:
    """A proxy before the server at `url`: `rate` of the requests meet a fault, no request more than `most` of them."""
    script = Script(seed=seed, rate=rate, faults=faults, most=most)
    proxy = FaultyProxy(url, script, slow_seconds=slow_seconds, refusing_seconds=refusing_seconds)
    proxy.thread.start()
    try:
        if not proxy.listening.wait(10):
            raise RuntimeError("the proxy does not listen; its reason stands above")
        yield proxy
    finally:
        proxy.stop()


if __name__ == "__main__":
    with faulty(sys.argv[1], seed=int((sys.argv[2:] or ["1"])[0])) as running, suppress(KeyboardInterrupt):
        print(running.url, flush=True)
        sys.stdin.read()
        print(json.dumps(running.met), flush=True)
