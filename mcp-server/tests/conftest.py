"""A scripted API on a free port, and the bridge before it: in this process, or as one whose every byte is seen."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from mcp import Client

from snapstate_mcp.server import Bridge

KEY = "snp_" + "0123456789abcdef" * 2
SAVED = {
    "checkpoint_id": "cp_wf_001",
    "workflow_id": "wf",
    "step": 1,
    "etag": '"1-1-a"',
    "created_at": "2026-11-29T18:33:11.123Z",
    "size_bytes": 2,
    "diff_from_previous": {"added": [], "removed": [], "changed": []},
}


class Api(ThreadingHTTPServer):
    """Answers with `script` one by one, then with 200 and SAVED; `seen` are the requests with their bodies,
    `connections` counts what they came over."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[tuple[int, Any]] = []
        self.seen: list[tuple[str, str, bytes]] = []
        self.keys: list[str | None] = []
        self.connections = 0
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the second piece of an answer does not wait for the ACK of the first
    server: Api

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def do_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, self.path, body))
        self.server.keys.append(self.headers.get("Authorization"))
        status, answer = self.server.script.pop(0) if self.server.script else (200, SAVED)
        text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_any  # noqa: N815

    def log_message(self, *arguments: Any) -> None:
        """It says nothing."""


@pytest.fixture
def api() -> Iterator[Api]:
    server = Api()
    serving = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    serving.start()
    yield server
    server.shutdown()
    server.server_close()
    serving.join(5)


@pytest.fixture
def ask(api: Api) -> Callable[[Callable[[Client], Any]], Any]:
    """What a function of a client answers, with the bridge in this process."""

    def run(doing: Callable[[Client], Any]) -> Any:
        async def whole() -> Any:
            async with Client(Bridge(api.url, KEY)) as client:
                return await doing(client)

        return asyncio.run(whole())

    return run


@pytest.fixture
def call(ask: Any) -> Callable[..., Any]:
    """The result of a tool."""
    return lambda tool, **arguments: ask(lambda client: client.call_tool(tool, arguments))


@pytest.fixture
def start(api: Api) -> Iterator[Callable[..., "subprocess.Popen[bytes]"]]:
    """Processes of the bridge; what is left of them at the end of a test is killed."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*arguments: str, **environment: str) -> "subprocess.Popen[bytes]":
        given = {"PATH": os.environ["PATH"], "SNAPSTATE_API_URL": api.url, "SNAPSTATE_API_KEY": KEY, **environment}
        command = [sys.executable, "-m", "snapstate_mcp", *arguments]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=given))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]
