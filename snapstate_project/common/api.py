"""The hot routes' view: DRF's APIView with its dispatch trimmed to what an answer needs.

Authentication, permission and throttle classes run as DRF runs them, but on Django's own request and without a thread
hop; a handler may be `async def` (on the loop, no ORM) or `def` (in a thread, ORM allowed).
"""

import math
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Protocol
from uuid import UUID

import msgspec
from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from rest_framework.parsers import JSONParser
from rest_framework.response import Response
from rest_framework.views import APIView

from snapstate_project.common.errors import (
    Forbidden,
    MethodNotAllowed,
    PayloadTooLarge,
    RateLimited,
    UnsupportedMediaType,
)
from snapstate_project.common.query import boolean, choice, day, integer, moment, query, text
from snapstate_project.common.response import ReadyResponse, set_headers
from snapstate_project.common.threads import in_thread
from snapstate_project.common.times import iso

__all__ = [
    "HotAPIView",
    "HotRequest",
    "ReadyResponse",
    "boolean",
    "choice",
    "day",
    "integer",
    "iso",
    "json_response",
    "moment",
    "query",
    "text",
]

HANDLED = ("GET", "POST", "PUT", "PATCH", "DELETE")
WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
encode = msgspec.json.Encoder().encode


class CallerOfRequest(Protocol):
    """What views read of the caller that authentication left."""

    @property
    def account_id(self) -> UUID: ...
    @property
    def key_id(self) -> UUID: ...
    @property
    def scopes(self) -> frozenset[str]: ...


class VerdictOfRequest(Protocol):
    """Where the caller stands in the rate limit."""

    limit: int
    remaining: int
    reset_seconds: int


class HotRequest(HttpRequest):
    """What a hot view is given, for annotations; in truth Django's request with these members."""

    request_id: str
    caller: CallerOfRequest
    verdict: VerdictOfRequest | None
    too_large: bool


def json_response(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """`data` may hold msgspec.Raw, which is spliced in as it is."""
    return ReadyResponse(encode(data), status, headers)


class HotAPIView(APIView):
    """Subclasses write get, post, put, patch, delete, and never look at the Authorization header."""

    parser_classes = [JSONParser]
    required_scopes: ClassVar[str | Mapping[str, str]] = ""
    reads_query: ClassVar[frozenset[str]] = frozenset({"GET", "HEAD"})

    ready_authenticators: ClassVar[tuple[Any, ...]] = ()
    ready_permissions: ClassVar[tuple[Any, ...]] = ()
    ready_throttles: ClassVar[tuple[Any, ...]] = ()
    handlers: ClassVar[dict[str, Callable[..., Any]]] = {}
    allow: ClassVar[str] = ""

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:
        """Everything that does not differ between two requests is made here, once."""
        cls.ready_authenticators = tuple(each() for each in cls.authentication_classes)
        cls.ready_permissions = tuple(each() for each in cls.permission_classes)
        cls.ready_throttles = tuple(each() for each in cls.throttle_classes)
        own = {name: on_the_loop(getattr(cls, name.lower())) for name in HANDLED if hasattr(cls, name.lower())}
        cls.handlers = {**own, "HEAD": own["GET"]} if "GET" in own else own
        cls.allow = ", ".join([*cls.handlers, "OPTIONS"])
        if isinstance(cls.required_scopes, Mapping) and "GET" in cls.required_scopes:
            cls.required_scopes = {**cls.required_scopes, "HEAD": cls.required_scopes["GET"]}
        return markcoroutinefunction(cls.view_function(initkwargs))

    @classmethod
    def view_function(cls, initkwargs: dict[str, Any]) -> Any:
        """What DRF's own would be, without its three wrappers; Django and drf-spectacular read the attributes."""

        def view(request: Any, *args: Any, **kwargs: Any) -> Awaitable[HttpResponse]:
            self = cls(**initkwargs)
            self.request, self.args, self.kwargs = request, args, kwargs
            return self.dispatch(request, *args, **kwargs)

        found: Any = view
        found.cls = found.view_class = cls
        found.initkwargs = initkwargs
        found.csrf_exempt = True
        return found

    async def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:  # type: ignore[override]
        try:
            response = await self.respond(request, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 (DRF's own way: its handler shapes whatever was raised)
            response = self.handle_exception(error)
        verdict = getattr(request, "verdict", None)
        if verdict is not None:
            set_headers(
                response,
                {
                    "ratelimit-limit": ("RateLimit-Limit", str(verdict.limit)),
                    "ratelimit-remaining": ("RateLimit-Remaining", str(verdict.remaining)),
                    "ratelimit-reset": ("RateLimit-Reset", str(verdict.reset_seconds)),
                },
            )
        return response

    async def respond(self, request: HotRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        method = request.method or ""
        handler = self.handlers.get(method)
        if handler is None:
            return self.without_handler(method)
        for authenticator in self.ready_authenticators:
            if await authenticator.authenticate(request) is not None:
                break
        self.permit(request)
        if method in WITH_BODY or getattr(request, "too_large", False):
            check_body(request)
        if request.META["QUERY_STRING"] and method not in self.reads_query:
            query(request, {})
        response = await handler(self, request, *args, **kwargs)
        return render(response) if isinstance(response, Response) else response

    def without_handler(self, method: str) -> HttpResponse:
        if method == "OPTIONS":
            return ReadyResponse(status=204, headers={"Allow": self.allow}, content_type="")
        raise MethodNotAllowed(headers={"Allow": self.allow})

    def permit(self, request: Any) -> None:
        for permission in self.ready_permissions:
            if not permission.has_permission(request, self):
                raise Forbidden(getattr(permission, "message", ""))
        for throttle in self.ready_throttles:
            if not throttle.allow_request(request, self):
                raise RateLimited(retry_after=math.ceil(throttle.wait() or 1))


def on_the_loop(handler: Callable[..., Any]) -> Callable[..., Any]:
    if iscoroutinefunction(handler):
        return handler

    async def in_a_thread(*args: Any, **kwargs: Any) -> Any:
        return await in_thread(handler, *args, **kwargs)

    return in_a_thread


def check_body(request: HotRequest) -> None:
    """What DRF's parsers would check before a body is looked at. No body at all is for the view to judge."""
    if request.META.get("HTTP_CONTENT_ENCODING", "identity") != "identity":
        raise UnsupportedMediaType
    if getattr(request, "too_large", False):
        raise PayloadTooLarge
    kind = request.META.get("CONTENT_TYPE", "")
    if kind == "application/json" or (not kind and not request.body):
        return
    charset = (request.content_params or {}).get("charset", "utf-8")
    if request.content_type != "application/json" or charset.lower() not in ("utf-8", "utf8"):
        raise UnsupportedMediaType


def render(response: Response) -> HttpResponse:
    """A DRF Response as ready bytes, here and now: Django would render it in a thread."""
    headers = {name: value for name, value in response.items() if name.lower() != "content-type"}
    if response.data is None:
        return ReadyResponse(status=response.status_code, headers=headers, content_type="")
    return json_response(response.data, response.status_code, headers)
