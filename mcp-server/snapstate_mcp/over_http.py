"""MCP over streamable HTTP: every caller brings a key of its own, and this server keeps none."""

import errno
import hashlib
import logging
import re
import signal
import socket
import types
from dataclasses import dataclass
from ipaddress import ip_address

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from snapstate_mcp.caller import Callers, bearer

PATH = "/mcp"
LARGEST_REQUEST = 8 * 2**20  # a state of 1 MiB may be escaped several times over
STOP_SECONDS = 5
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class KeyRequired:
    """Nothing of MCP is shown to a caller without a key; whether the key is good is for the API to say."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == PATH:
            key = bearer(Headers(scope=scope).get("authorization"))
            if not key:
                await no_key()(scope, receive, send)
                return
            scope["user"] = owner(key)
        await self.app(scope, receive, send)


def owner(key: str) -> AuthenticatedUser:
    """Whose a session is: another key finds no such session. The key itself is not kept."""
    digest = hashlib.sha256(key.encode()).hexdigest()
    return AuthenticatedUser(AccessToken(token="", client_id=digest, scopes=[]))


def no_key() -> Response:
    message = "Send your SnapState API key with every request: Authorization: Bearer snp_…"
    error = {"code": -32001, "message": message}
    body = {"jsonrpc": "2.0", "id": None, "error": error}
    return JSONResponse(body, status_code=401, headers={"WWW-Authenticate": "Bearer"})


@dataclass(frozen=True)
class Listening:
    """`hosts`, `origins`: what `Host` and `Origin` may say besides the loopback and the address listened on.
    `sessions`: whether clients get sessions (Mcp-Session-Id), or each request stands for itself."""

    host: str
    port: int
    hosts: list[str]
    origins: list[str]
    sessions: bool


def application(server: MCPServer[Callers], at: Listening) -> ASGIApp:
    """MCP at /mcp for those with a key, and /health for everybody."""

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "version": server.version})

    server.custom_route("/health", methods=["GET"])(health)
    secured = security(at)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=not at.sessions,
        max_request_body_size=LARGEST_REQUEST,
        transport_security=secured,
    )
    return readable_by_pages(KeyRequired(app), secured.allowed_origins)


def readable_by_pages(app: ASGIApp, origins: list[str]) -> ASGIApp:
    """Pages of these origins may call, for browsers ask beforehand (CORS), and without a key."""
    pattern = "|".join(re.escape(origin).replace(r":\*", r":\d+") for origin in origins)
    return CORSMiddleware(
        app,
        allow_origin_regex=pattern,
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=["Mcp-Session-Id", "WWW-Authenticate"],
    )


def security(at: Listening) -> TransportSecuritySettings:
    """A page that has its own name resolve to us sends that name as Host, and is refused."""
    named = LOOPBACK if loopback(at.host) else (*LOOPBACK, f"[{at.host}]" if ":" in at.host else at.host)
    ours = [form for name in named for form in (name, f"{name}:*")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=ours + [form for name in at.hosts for form in (name, f"{name}:*")],
        allowed_origins=[f"http://{name}" for name in ours] + at.origins,
    )


def loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_free(host: str, port: int) -> None:
    """Raises OSError. uvicorn says that it has started, and only then looks whether it can listen."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for family, _, _, _, address in found:
        try:
            socket.create_server((str(address[0]), port), family=family).close()
        except OSError as error:  # a name may stand for an address of a family that this machine does not have
            if error.errno != errno.EADDRNOTAVAIL or len(found) == 1:
                raise


def run(server: MCPServer[Callers], at: Listening) -> None:
    """Until a signal comes; then at most five seconds for what is under way."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, leave_quietly)  # uvicorn stops on both, and raises them again once it has
    app = application(server, at)
    config = uvicorn.Config(
        app, host=at.host, port=at.port, log_config=None, access_log=False, timeout_graceful_shutdown=STOP_SECONDS
    )
    uvicorn.Server(config).run()


def leave_quietly(number: int, _: types.FrameType | None) -> None:
    logging.getLogger(__name__).info("stopped by signal %d", number)
