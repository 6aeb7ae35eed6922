"""What browsers are told: any origin may call the API, none the admin; and every HTML page says what it may load."""

from collections.abc import Awaitable
from typing import Any, cast

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.core.exceptions import BadRequest
from django.core.handlers.exception import response_for_exception
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware

from snapstate_project.common.request_id import GetResponse

EXPOSED = "X-Request-Id, ETag, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After"
PREFLIGHT = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": (
        "Authorization, Content-Type, If-Match, If-None-Match, Prefer, X-Checkpoint-TTL, X-Request-Id"
    ),
    "Access-Control-Max-Age": "86400",
}
PAGES = ("/admin", "/static/", "/docs")

PAGE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
BASE_POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "connect-src 'self'; font-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self'"
)


class Middleware:
    """One body for both kinds of chain: `before` may answer at once, `after` adds headers."""

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
        response = self.before(request) or cast(HttpResponseBase, self.get_response(request))
        self.after(request, response)
        return response

    async def answer(self, request: HttpRequest) -> HttpResponseBase:
        response = self.before(request) or await cast(Awaitable[HttpResponseBase], self.get_response(request))
        self.after(request, response)
        return response

    def before(self, request: HttpRequest) -> HttpResponseBase | None:  # noqa: ARG002 (for subclasses)
        return None

    def after(self, request: HttpRequest, response: HttpResponseBase) -> None:
        raise NotImplementedError


class CorsMiddleware(Middleware):
    """No credentials are ever allowed: a browser's call is one with a key in its Authorization header."""

    def before(self, request: HttpRequest) -> HttpResponseBase | None:
        asks = request.method == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.META
        return HttpResponse(status=204, headers=PREFLIGHT) if asks and is_api(request.path) else None

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if "HTTP_ORIGIN" not in request.META:
            return self.get_response(request)
        return super().__call__(request)

    def after(self, request: HttpRequest, response: HttpResponseBase) -> None:
        if is_api(request.path):
            response.headers["Access-Control-Allow-Origin"] = "*"
            response.headers["Access-Control-Expose-Headers"] = EXPOSED


def is_api(path: str) -> bool:
    return path != "/" and not path.startswith(PAGES)


class PagesMiddleware(Middleware):
    def before(self, request: HttpRequest) -> HttpResponseBase | None:
        """No name and no search on a page holds NUL, and Postgres fails on it."""
        is_page = request.path.endswith("/")
        if is_page and ("\x00" in request.path or "%00" in request.META.get("QUERY_STRING", "")):
            return response_for_exception(request, BadRequest())  # not raised: it is to have the headers below
        return None

    def after(self, request: HttpRequest, response: HttpResponseBase) -> None:
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            return
        for name, value in PAGE_HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Content-Security-Policy", policy_for(request.path))
        if settings.APP_URL.startswith("https://"):
            response.headers.setdefault("Strict-Transport-Security", "max-age=31536000")


def policy_for(path: str) -> str:
    """The base, and what SCRIPT_SOURCES grants to the pages below a path. No page runs a script that stands in it."""
    granted = [sources for prefix, sources in settings.SCRIPT_SOURCES.items() if path.startswith(prefix)]
    return " ".join([BASE_POLICY, *(source for sources in granted for source in sources)])


class StaticMiddleware(WhiteNoiseMiddleware):
    """WhiteNoise, answering whole files: a streamed one would be read through a thread, chunk by chunk."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:  # type: ignore[override]  # as its own base does
        answer = static_file.get_response(request.method, request.META)
        content = b""
        if answer.file is not None:
            with answer.file:
                content = answer.file.read()
        return HttpResponse(content, status=int(answer.status), headers=dict(answer.headers))
