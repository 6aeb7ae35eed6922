"""Other people's HTTP endpoints: each keeps what it was sent, byte for byte, and answers as the test has told it."""

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

RESOLVED: list[list[str]] = []


def resolve(host: str, port: int) -> list[str]:
    return RESOLVED.pop(0) if len(RESOLVED) > 1 else RESOLVED[0]


@dataclass(frozen=True)
class Answering:
    status: int = 200
    headers: Mapping[str, str] | None = None
    body: bytes = b""
    after: float = 0.0


@dataclass(frozen=True)
class Got:
    path: str
    headers: Message
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class Receiver:
    def __init__(self, *answers: int | Answering, tls: Any = None) -> None:
        self.answers = [Answering(each) if isinstance(each, int) else each for each in answers] or [Answering()]
        self.got: list[Got] = []
        self.open = threading.Event()
        self.stopped = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self.server.daemon_threads = True
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook"
        threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True).start()

    def stop(self) -> None:
        self.stopped.set()
        self.server.shutdown()
        self.server.server_close()

    def take(self, got: Got) -> Answering:
        self.got.append(got)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            answer = receiver.take(Got(self.path, self.headers, body, time.time()))
            receiver.stopped.wait(answer.after)
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(answer.body)), **(answer.headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: Any) -> None:
            pass

        def handle(self) -> None:
            with suppress(OSError):  # the sender has hung up
                super().handle()

    return Handler
