"""A real HTTP server that answers as a test's script says, and remembers what it was sent."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from snapstate_sdk import SnapStateClient

KEY = "snp_" + "0" * 32
SAVED = {
    "checkpoint_id": "cp_wf_001",
    "workflow_id": "wf",
    "step": 1,
    "etag": '"1-1-a"',
    "created_at": "2026-11-29T18:33:11.123Z",
    "size_bytes": 2,
    "diff_from_previous": {"added": [], "removed": [], "changed": []},
}


@dataclass
class Reply:
    """`cut`: send only that many bytes of the body, then hang up; `measured`: say before how many there will be.
    `after`: seconds until anything is said. `pause`: seconds between single bytes."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    measured: bool = True
    after: float = 0
    pause: float = 0


HANG_UP = "hang up"  # the request is read, then the connection closed without a word


@dataclass
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    port: int


class Scripted(ThreadingHTTPServer):
    """Takes its replies from `script` one after the other, and from `always` when that is empty."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[Reply | str] = []
        self.always: Reply | str | None = None
        self.seen: list[Seen] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def next(self) -> Reply | str:
        if self.script:
            return self.script.pop(0)
        assert self.always is not None, "the script is over"
        return self.always


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the second piece of an answer does not wait for the ACK of the first
    server: Scripted

    def handle_any(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append(
            Seen(self.command, self.path, dict(self.headers.items()), content, self.client_address[1])
        )
        reply = self.server.next()
        if isinstance(reply, Reply):
            self.say(reply)
        else:
            self.hang_up()

    do_GET = do_POST = do_PATCH = do_DELETE = handle_any  # noqa: N815

    def say(self, reply: Reply) -> None:
        time.sleep(reply.after)
        text = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        content = b"" if reply.body is None else text
        if "Date" in reply.headers:
            self.send_response_only(reply.status)
        else:
            self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        if reply.measured:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        for piece in [content[: reply.cut]] if not reply.pause else [bytes([byte]) for byte in content]:
            self.wfile.write(piece)
            time.sleep(reply.pause)
        if reply.cut is not None or not reply.measured:
            self.hang_up()

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def handle(self) -> None:
        """A client that has gone in the meantime is no news."""
        try:
            super().handle()
        except OSError:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Scripted]:
    with Scripted() as scripted:
        thread = threading.Thread(target=scripted.serve_forever, args=(0.01,))
        thread.start()
        yield scripted
        scripted.shutdown()
        thread.join()


@pytest.fixture
def client(server: Scripted) -> Iterator[SnapStateClient]:
    with SnapStateClient(KEY, server.url, timeout=5, deadline=20) as made:
        yield made


@pytest.fixture
def impatient(server: Scripted) -> Iterator[SnapStateClient]:
    """Gives up within a second."""
    with SnapStateClient(KEY, server.url, timeout=0.2, deadline=1) as made:
        yield made


@pytest.fixture
def reply() -> Callable[..., Reply]:
    return Reply


@pytest.fixture
def hang_up() -> str:
    return HANG_UP


@pytest.fixture
def saved() -> Reply:
    return Reply(201, SAVED)


@pytest.fixture
def refused() -> Callable[..., Reply]:
    """An error as the API says it."""

    def make(status: int, code: str, **more: Any) -> Reply:
        headers = more.pop("headers", {})
        error = {"code": code, "message": f"{code}, so to speak", "request_id": "req-1", **more.pop("error", {})}
        return Reply(status, {"error": error, **more}, headers)

    return make
