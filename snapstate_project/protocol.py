"""HTTP as uvicorn reads it; what cannot be read is answered in the one error shape, with an id, like all else.

A body that has come, and a ready answer, go by the short way, without ASGI's messages: nobody looks a second time at
headers of our own making.
"""

import asyncio
import logging
from collections import deque
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from snapstate_project.common.errors import ValidationFailed, error_response
from snapstate_project.common.request_id import fresh_request_id, request_ids
from snapstate_project.one_write import OneWrite

logger = logging.getLogger(__name__)
UNREADABLE = "This is no HTTP request that can be read; or its first line, or a header, is longer than is taken."
NOWHERE: deque[Any] = deque(maxlen=0)
"""Where trailers go: they come by the same call as headers, and could pass for what a proxy has looked at."""
CYCLE = "snapstate.cycle"
"""The ASGI extension that is the server's own side of a request, for `take_body` and `leave`."""


class Protocol(HttpToolsProtocol):
    """No view, no middleware and no ASGI application hears of a request that cannot be read: there is none yet."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(cast(asyncio.Transport, OneWrite(transport)))

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self.headers = cast(list[tuple[bytes, bytes]], NOWHERE)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        cycle.scope["extensions"] = {CYCLE: cast(Any, cycle)}
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        cast(OneWrite, self.transport).flush()  # of an answer without a body
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        request_id = fresh_request_id()
        request_ids.set(request_id)
        logger.info("unreadable request: %s", msg)
        response = error_response(ValidationFailed(UNREADABLE), request_id)
        head = (
            "HTTP/1.1 400 Bad Request\r\n"
            "content-type: application/json\r\n"
            f"content-length: {len(response.content)}\r\n"
            f"x-request-id: {request_id}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + response.content)
        self.transport.close()


def take_body(cycle: RequestResponseCycle) -> bytes | None:
    """The body, if all of it has come; else it has to be awaited in ASGI's messages."""
    if cycle.more_body or cycle.disconnected:
        return None
    body, cycle.body = bytes(cycle.body), bytearray()
    return body


def leave(cycle: RequestResponseCycle, answer: bytes) -> bool:
    """Whether the answer, head and body, has left as it is; else it has to go in ASGI's messages."""
    if cycle.response_started or cycle.disconnected or not cycle.keep_alive or cycle.flow.write_paused:
        return False
    cycle.response_started = cycle.response_complete = True
    cycle.transport.write(answer)
    cycle.message_event.set()
    cycle.on_response()
    return True
