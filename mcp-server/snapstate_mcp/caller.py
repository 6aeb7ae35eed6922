"""Who asks: each request goes to SnapState with the key that came with it, over connections that all share."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import httpx2
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.exceptions import ToolError
from snapstate_sdk import SnapStateClient
from starlette.requests import Request

KEY_VARIABLE, URL_VARIABLE = "SNAPSTATE_API_KEY", "SNAPSTATE_API_URL"
DEADLINE_SECONDS, ATTEMPTS = 30.0, 4  # a model waits for the answer: it is told soon, and asks again by itself
MOST_CONNECTIONS = 100
IN_ENVIRONMENT = f"Set {KEY_VARIABLE} in the environment of this MCP server to a valid key (snp_…), and start it again."
IN_REQUEST = "Send a valid key with every request to this MCP server: Authorization: Bearer snp_…"
BEARER = re.compile(r"bearer +([\x21-\x7e]{1,512})", re.IGNORECASE)


@dataclass(frozen=True)
class Caller:
    """`key_goes`: what somebody does who has to give another key."""

    client: SnapStateClient
    api_url: str
    key_goes: str


_caller: ContextVar[Caller | None] = ContextVar("caller")


class Shared(httpx2.AsyncBaseTransport):
    """Connections that outlive the client of a single request; proxies of the environment are used."""

    def __init__(self, pool: httpx2.AsyncClient) -> None:
        self.pool = pool

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await self.pool.send(request, stream=True)

    async def aclose(self) -> None:
        """They are closed with the server."""


class Callers:
    """Those who call the API at one address: the holder of `key` alone, or, when it is None, whoever sends a key."""

    def __init__(self, api_url: str, key: str | None) -> None:
        self.api_url = api_url
        self.of_requests = key is None
        self.pool = httpx2.AsyncClient(limits=httpx2.Limits(max_connections=MOST_CONNECTIONS))
        own = bearer(f"Bearer {key}")
        self.own = self.with_key(own, IN_ENVIRONMENT) if key and own else None

    def with_key(self, key: str, key_goes: str) -> Caller:
        client = SnapStateClient(
            key, self.api_url, max_retries=ATTEMPTS, deadline=DEADLINE_SECONDS, async_transport=Shared(self.pool)
        )
        return Caller(client, self.api_url, key_goes)

    def of(self, request: Any) -> Caller | None:
        """None where there is no key."""
        if not self.of_requests:
            return self.own
        key = bearer(request.headers.get("authorization")) if isinstance(request, Request) else None
        return self.with_key(key, IN_REQUEST) if key else None


@asynccontextmanager
async def opened(api_url: str, key: str | None) -> AsyncIterator[Callers]:
    callers = Callers(api_url, key)
    async with callers.pool:
        yield callers


def bearer(header: str | None) -> str | None:
    """The key within an Authorization header."""
    match = BEARER.fullmatch((header or "").strip())
    return match[1] if match else None


async def as_caller(ctx: ServerRequestContext[Callers, Any], call_next: CallNext) -> HandlerResult:
    """Around every request: whatever it calls, it calls in the name of who sent it."""
    _caller.set(ctx.lifespan_context.of(ctx.request))
    return await call_next(ctx)


def caller() -> Caller:
    """Of the request that is being answered. Raises ToolError where no key came with it."""
    found = _caller.get(None)
    if found is None:
        raise ToolError(f"There is no API key, and nothing was done. {IN_ENVIRONMENT}")
    return found


def client() -> SnapStateClient:
    return caller().client
