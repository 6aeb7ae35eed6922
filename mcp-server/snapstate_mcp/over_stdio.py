"""MCP over stdin and stdout: nothing but protocol goes out, and every request is answered, one in broken JSON too."""

import asyncio
import json
import logging
import os
import re
import signal
import sys
import threading
from contextlib import suppress
from typing import Any, cast

import anyio
from anyio import CancelScope
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCRequest
from pydantic import ValidationError

READ_AHEAD = 64
LAST_WORDS_SECONDS = 5  # a client that reads no answers does not keep us for longer
ENDS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
ID = re.compile(r'\s*:\s*(?:(-?\d{1,18})(?=[\s,}])|"([\w.:-]{1,200})")', re.ASCII)

Incoming = SessionMessage | Exception


class Lines:
    """The lines of a descriptor, read by a thread that keeps nobody from leaving."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue(READ_AHEAD)
        self.loop = asyncio.get_running_loop()
        threading.Thread(target=self.read, name="stdin", daemon=True).start()

    def read(self) -> None:
        kept = bytearray()
        with suppress(RuntimeError, OSError):  # the loop is closed, or the descriptor
            while chunk := os.read(self.descriptor, 1 << 16):
                *whole, tail = chunk.split(b"\n")
                for part in whole:
                    self.put(bytes(kept + part))
                    kept.clear()
                kept += tail
            self.put(bytes(kept))
            self.put(None)

    def put(self, line: bytes | None) -> None:
        if line is None or line.strip():
            asyncio.run_coroutine_threadsafe(self.queue.put(line), self.loop).result()

    def __aiter__(self) -> "Lines":
        return self

    async def __anext__(self) -> str:
        line = await self.queue.get()
        if line is None:
            raise StopAsyncIteration
        return line.decode(errors="surrogateescape")  # bytes that are no UTF-8 stay visible as what they are not


async def serve(run: Any) -> None:
    """Until stdin ends, a signal comes, or nobody reads any more. `run` serves MCP over two streams."""
    try:
        await serve_until_the_end(run)
    except* BrokenPipeError:
        logging.getLogger(__name__).warning("nobody reads stdout any more")
        os._exit(1)  # what is still in its buffer would be a second complaint


async def serve_until_the_end(run: Any) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop_on_signals, tasks.cancel_scope)
        async with stdio_server(stdin=cast(Any, Lines(sys.stdin.fileno()))) as (incoming, outgoing):
            send, receive = anyio.create_memory_object_stream[Incoming](0)
            tasks.start_soon(relay, incoming, send, outgoing)
            await run(receive, outgoing)
        tasks.cancel_scope.cancel()


async def stop_on_signals(scope: CancelScope) -> None:
    if sys.platform == "win32":
        return
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for _ in signals:
            last = threading.Timer(LAST_WORDS_SECONDS, os._exit, [1])
            last.daemon = True
            last.start()
            scope.cancel()


async def relay(
    incoming: ObjectReceiveStream[Incoming],
    served: ObjectSendStream[Incoming],
    outgoing: ObjectSendStream[SessionMessage],
) -> None:
    """The library drops a line that it cannot read, and its sender would wait for ever."""
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        async with served:
            async for item in incoming:
                if not isinstance(item, ValidationError):
                    await served.send(item)
                    continue
                message = read_again(line_of(item))
                if isinstance(message, JSONRPCError):
                    await outgoing.send(SessionMessage(message))
                elif message is not None:
                    await served.send(SessionMessage(message))


def line_of(error: ValidationError) -> str:
    """What came in; when it was JSON, then as JSON of the same meaning."""
    found = [one["input"] for one in error.errors(include_url=False)]
    whole = next((one for one in found if isinstance(one, dict)), found[0])
    return whole if isinstance(whole, str) else json.dumps(whole, default=str)


def read_again(line: str) -> JSONRPCRequest | JSONRPCError | None:
    """Python reads what the library's parser does not, half a surrogate pair for one: then the tool names its place."""
    try:
        read = json.loads(line)
        if isinstance(read, dict) and "method" in read and "id" not in read:
            return None  # notifications are not answered
        return JSONRPCRequest.model_validate(read)
    except (ValueError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else type(error).__name__
        fault = ErrorData(code=PARSE_ERROR, message=f"This line is no JSON-RPC request ({reason}); nothing was done.")
        return JSONRPCError(jsonrpc="2.0", id=id_of(line), error=fault)


def id_of(line: str) -> int | str | None:
    """The id of a request in text that no parser takes: the `id` on the outermost level."""
    depth = 0
    for token in ENDS.finditer(line):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        elif depth == 1 and token[0] == '"id"' and (found := ID.match(line, token.end())):
            return int(found[1]) if found[1] else found[2]
    return None
