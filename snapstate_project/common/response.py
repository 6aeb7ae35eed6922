"""A response of ready bytes for the hot routes: Django's own, built without what they do not use."""

from collections.abc import Mapping
from functools import cached_property
from http.cookies import SimpleCookie

from django.http import HttpResponse
from django.http.response import HttpResponseBase, ResponseHeaders


class ReadyResponse(HttpResponse):
    """Header names and values must be ASCII of our own making: they are not checked here, only by the server."""

    def __init__(
        self,
        content: bytes = b"",
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        *,
        content_type: str = "application/json",
    ) -> None:
        self.status_code = status
        self.headers = ResponseHeaders.__new__(ResponseHeaders)
        self.headers._store = {"content-type": ("Content-Type", content_type)} if content_type else {}
        for name, value in (headers or {}).items():
            self.headers._store[name.lower()] = (name, value)
        self.closed = False
        self._container = [content]
        self._resource_closers: list[object] = []
        self._handler_class = None
        self._reason_phrase = None
        self._charset = "utf-8"

    @cached_property
    def cookies(self) -> SimpleCookie:  # type: ignore[override]  # which Django makes for every response
        return SimpleCookie()


def set_header(response: HttpResponseBase, name: str, value: str) -> None:
    """As `response.headers[name] = value`, for ASCII of our own making, without checking it again."""
    response.headers._store[name.lower()] = (name, value)


def set_headers(response: HttpResponseBase, headers: Mapping[str, tuple[str, str]]) -> None:
    """The same for several, each given as Django keeps it: by its name in lower case, (name, value)."""
    response.headers._store.update(headers)
