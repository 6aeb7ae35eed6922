"""Who acts: an operator at a page, a program with ADMIN_SECRET, or, where nobody is named, the service by itself."""

from collections.abc import Awaitable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from snapstate_project.common.headers import Middleware

ADMIN_API = "Admin API"
NOBODY_NAMED = "SnapState"
LONGEST_NAME = 150  # of Django's users


@dataclass(frozen=True, slots=True)
class Actor:
    """`user` is an operator's row; a program has none. `address` is the client's, as the proxy we trust tells it."""

    name: str
    user: Any = None
    address: str | None = None
    request_id: str | None = None


_actor: ContextVar[Actor | None] = ContextVar("actor", default=None)


def current() -> Actor | None:
    return _actor.get()


@contextmanager
def acting_as(name: str, request: HttpRequest, *, user: Any = None) -> Iterator[None]:
    """For as long as a view runs, whatever is changed is changed by this one."""
    actor = Actor(name, user, client_address(request), getattr(request, "request_id", None))
    token = _actor.set(actor)
    try:
        yield
    finally:
        _actor.reset(token)


def client_address(request: HttpRequest) -> str | None:
    """The peer's, or what a proxy named in FORWARDED_ALLOW_IPS says it is: see asgi.py. No header is read here.

    None for what is no address: a proxy may pass on anything, and neither log nor lock may fail on it.
    """
    try:
        return str(ip_address((request.META.get("REMOTE_ADDR") or "").partition("%")[0]))
    except ValueError:
        return None


def sign_in_name(request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> str | None:
    """The name that was tried, as far as any operator's name can go on."""
    name = (credentials or request.POST).get("username")
    return None if name is None else str(name)[:LONGEST_NAME]


class AdminApiMiddleware(Middleware):
    """Whoever has ADMIN_SECRET is the same to us; without it, nothing is changed that could be noted."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        if self.is_async:
            return self.answer(request)
        with self.named(request):
            return cast(HttpResponseBase, self.get_response(request))

    async def answer(self, request: HttpRequest) -> HttpResponseBase:
        with self.named(request):
            return await cast(Awaitable[HttpResponseBase], self.get_response(request))

    def named(self, request: HttpRequest) -> AbstractContextManager[None]:
        is_of_the_api = request.path.startswith("/admin/") and not request.path.endswith("/")
        return acting_as(ADMIN_API, request) if is_of_the_api else nullcontext()
