"""The ASGI entry of the hot routes: Django's resolver, middlewares, views and responses, without a thread in sight.

Django's own ASGI handler spends ten times as much on threads for synchronous signals and on a task that watches for
the client's leave. The price: no ORM on the event loop, and the body's limit is kept here. Paths stay as they were
sent (percent-encoded), so that routes split them at real slashes; views decode each segment.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from time import perf_counter
from typing import Any, cast
from urllib.parse import quote

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.urls import ResolverMatch, get_resolver
from django.utils.module_loading import import_string
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from snapstate_project.common.errors import ValidationFailed, error_response
from snapstate_project.common.request_id import current_request_id, fresh_request_id
from snapstate_project.common.traffic import requests
from snapstate_project.protocol import CYCLE, leave, take_body

type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]

DRAINED_AT_MOST = 16 * 1024 * 1024
DRAIN_SECONDS = 5.0
NO_BODY = frozenset({204, 304})
STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus}


class ClientGone(Exception):
    """The client left while it was sending: there is nobody to answer."""


def meta_name(header: bytes) -> str:
    """`CONTENT_TYPE`, `HTTP_IF_MATCH`; none for a name with an underscore, which could pass for another."""
    name = header.decode("latin1").upper()
    if "_" in name:
        return ""
    name = name.replace("-", "_")
    return name if name in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{name}"


OFTEN = b"host user-agent accept accept-encoding authorization content-type content-length if-match prefer"
META_NAMES = {header: meta_name(header) for header in OFTEN.split()}


class Request(ASGIRequest):
    """Django's own, but that a Content-Type which it fails to read is merely one that nobody takes."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]
        except (LookupError, ValueError):
            self.content_type, self.content_params = "", {}


class LeanRequest(Request):
    """An ASGIRequest built at a third of the cost, its body already read."""

    def __init__(self, scope: Message) -> None:
        self.scope = scope
        self.method = scope["method"]
        self.path = self.path_info = (scope.get("raw_path") or quote(scope["path"]).encode()).decode("latin1")
        self.script_name = ""
        self.resolver_match = None
        self.too_large = False
        self._post_parse_error = False
        self._read_started = True
        self._body = b""
        self.META = meta_of(scope, self.path)
        content_type = self.META.get("CONTENT_TYPE", "")
        if content_type in ("application/json", ""):
            self.content_type, self.content_params = content_type, {}
        else:
            self._set_content_type_params(self.META)

    async def take_body(self, receive: Receive, cycle: RequestResponseCycle | None) -> None:
        """The body, up to the limit: what is beyond it is never held."""
        length = self.META.get("CONTENT_LENGTH")
        if length is None and "HTTP_TRANSFER_ENCODING" not in self.META:
            return
        if length is not None and int(length) > settings.MAX_BODY_BYTES:
            self.too_large = True
            return
        body = take_body(cycle) if cycle else None
        if body is None or len(body) > settings.MAX_BODY_BYTES:
            body = await self.rest(bytearray(body or b""), receive)
        self._body = body

    async def rest(self, body: bytearray, receive: Receive) -> bytes:
        while len(body) <= settings.MAX_BODY_BYTES:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        self.too_large = len(body) > settings.MAX_BODY_BYTES
        return b"" if self.too_large else bytes(body)


def meta_of(scope: Message, path: str) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "QUERY_STRING": query_string(scope),
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
    }
    if client := scope.get("client"):
        meta["REMOTE_ADDR"], meta["REMOTE_PORT"] = client
    meta["SERVER_NAME"], meta["SERVER_PORT"] = scope.get("server") or ("unknown", 0)
    for header, value in scope["headers"]:
        name = META_NAMES.get(header) or meta_name(header)
        if name in meta:
            meta[name] = f"{meta[name]},{value.decode('latin1')}"
        elif name:
            meta[name] = value.decode("latin1")
    return meta


def query_string(scope: Message) -> str:
    try:
        return cast(str, scope["query_string"].decode("ascii"))
    except UnicodeDecodeError:
        raise ValidationFailed("The query string must be percent-encoded.") from None


class LeanHandler:
    def __init__(self) -> None:
        self.resolver = get_resolver()
        self.resolver.url_patterns  # noqa: B018 (loads every view now, not in the first request)
        self.chain: Callable[[LeanRequest], Awaitable[HttpResponse]] = self.view
        for path in reversed(settings.LEAN_MIDDLEWARE):
            self.chain = import_string(path)(self.chain)
        self.matches: dict[str, ResolverMatch] = {}

    def match(self, path: str) -> ResolverMatch:
        """What Django's resolver finds; kept when the route is the path itself, for there are few of those."""
        match = self.resolver.resolve(path)
        if match.route == path[1:]:
            self.matches[path] = match
        return match

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        too_large, match, began, cycle = False, None, perf_counter(), cycle_of(scope)
        try:
            request = LeanRequest(scope)
            await request.take_body(receive, cycle)
            too_large, began = request.too_large, perf_counter()
            response = await self.chain(request)
            match, whole = request.resolver_match, whole_of(response)
        except ClientGone:
            return
        except Exception as error:  # noqa: BLE001 (nothing may answer without the one error shape)
            response = last_answer(error)
            whole = whole_of(response)
        if too_large:
            await answer_and_drain(head_of(response), response.content, receive, send)
        elif scope["method"] == "HEAD" or not whole or cycle is None or not leave(cycle, whole):
            await send(head_of(response, length_is_known=scope["method"] != "HEAD" or bool(response.content)))
            await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else response.content})
        requests.note(match, scope["method"], response.status_code, began)
        for closer in response._resource_closers:  # type: ignore[attr-defined]
            closer()

    async def view(self, request: LeanRequest) -> HttpResponse:
        """Hot views answer with rendered responses, so Django's hooks around the view are not needed."""
        try:
            match = request.resolver_match = self.matches.get(request.path_info) or self.match(request.path_info)
            response = match.func(request, *match.args, **match.kwargs)
            return response if isinstance(response, HttpResponse) else cast(HttpResponse, await response)
        except Exception as error:  # noqa: BLE001 (Django's own turn into an HTML page must not be reached)
            return error_response(error)


def last_answer(error: Exception) -> HttpResponse:
    request_id = current_request_id() or fresh_request_id()
    response = error_response(error, request_id)
    response.headers["X-Request-Id"] = request_id
    return response


def head_of(response: HttpResponse, *, length_is_known: bool = True) -> Message:
    headers = [(name.encode("latin1"), value.encode("latin1")) for name, value in response.headers._store.values()]
    if response.status_code not in NO_BODY and length_is_known:
        headers.append((b"content-length", b"%d" % len(response.content)))
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}


def whole_of(response: HttpResponse) -> bytes:
    """Head and body as they go over the wire, empty for an answer without a body; ValueError if they cannot."""
    if response.status_code in NO_BODY:
        return b""
    content = response.content
    lines = [f"{name}: {value}\r\n" for name, (_, value) in response.headers._store.items()]
    text = f"{STATUS_LINES[response.status_code]}{''.join(lines)}content-length: {len(content)}\r\n\r\n"
    head = text.encode("latin1")
    if head.count(b"\r") != len(lines) + 3 or head.count(b"\n") != len(lines) + 3:
        raise ValueError("A header of the answer holds a line break.")
    return head + content


def cycle_of(scope: Message) -> RequestResponseCycle | None:
    """The short way past ASGI's messages, where the server offers it."""
    return cast(RequestResponseCycle | None, scope.get("extensions", {}).get(CYCLE))


async def answer_and_drain(head: Message, body: bytes, receive: Receive, send: Send) -> None:
    """The answer to a body too large: sent at once, before the rest of it is taken and dropped."""
    head["headers"].append((b"connection", b"close"))
    await send(head)
    await send({"type": "http.response.body", "body": body, "more_body": True})
    await drain(receive)
    await send({"type": "http.response.body", "body": b""})


async def drain(receive: Receive) -> None:
    """Takes what the client still sends, for a while: closing on it would cost the client our answer."""
    drained = 0
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while drained < DRAINED_AT_MOST:
                message = await receive()
                drained += len(message.get("body", b""))
                if not message.get("more_body"):
                    return
    except TimeoutError:
        return
