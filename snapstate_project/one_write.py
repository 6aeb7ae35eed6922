"""A response leaves in one write: two are two packets, and wake a client twice for one answer."""

import asyncio
from typing import Any

HEAD, INTERIM = b"HTTP/1.1 ", b"HTTP/1.1 1"


class OneWrite:
    """A transport that keeps the head of a response until its body follows, or its end, or the close."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self.head = b""
        self.is_closing = transport.is_closing  # asked for every answer

    def write(self, data: bytes) -> None:
        if data.startswith(HEAD) and not self.head and not data.startswith(INTERIM):
            self.head = data
            return
        head, self.head = self.head, b""
        self.transport.write(head + data if head else data)

    def flush(self) -> None:
        if self.head:
            head, self.head = self.head, b""
            self.transport.write(head)

    def close(self) -> None:
        self.flush()
        self.transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)
