"""Every request gets a fresh UUIDv4: on the request, on every log line of it, on the response."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import cast
from uuid import uuid4

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase

type GetResponse = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]

request_ids: ContextVar[str] = ContextVar("request_id", default="")
client_request_ids: ContextVar[str] = ContextVar("client_request_id", default="")


def current_request_id() -> str:
    return request_ids.get()


def begin(request: HttpRequest) -> str:
    """Gives the request its id; the caller's own is kept beside it, for the log only."""
    request_id = str(uuid4())
    request.request_id = request_id  # type: ignore[attr-defined]
    request_ids.set(request_id)
    theirs = request.META.get("HTTP_X_REQUEST_ID")
    if theirs:
        client_request_ids.set(theirs[:128])
    return request_id


class RequestIdMiddleware:
    sync_capable = True
    async_capable = True

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self.answer(request)
        request_id = begin(request)
        response = cast(HttpResponseBase, self.get_response(request))
        response.headers["X-Request-Id"] = request_id
        return response

    async def answer(self, request: HttpRequest) -> HttpResponseBase:
        request_id = begin(request)
        response = await cast(Awaitable[HttpResponseBase], self.get_response(request))
        response.headers["X-Request-Id"] = request_id
        return response
