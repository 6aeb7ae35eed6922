"""The ASGI application: the lean handler for the hot routes, Django's own for all the rest."""

import asyncio
import os
from io import BytesIO
from time import perf_counter

import django
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.utils.module_loading import import_string
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from snapstate_project import checks, shutdown
from snapstate_project.common.errors import ApiError, PayloadTooLarge, Unauthorized
from snapstate_project.common.metrics import board
from snapstate_project.common.traffic import requests
from snapstate_project.lean import LeanHandler, Message, Receive, Request, Send, answer_and_drain, head_of, last_answer

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "snapstate_project.settings")
django.setup(set_prefix=False)
checks.refuse_default_secrets()

HOT = ("/checkpoints", "/workflows", "/agents", "/analytics", "/usage", "/webhooks", "/health", "/ready", "/metrics")
lean = LeanHandler()
operators = import_string("accounts.authentication.OperatorAuthentication")()
whole = ASGIHandler()
whole.request_class = Request
# Whether a browser came over https matters to the admin's cookies and CSRF checks, to nothing on the hot routes.
stock = ProxyHeadersMiddleware(whole, trusted_hosts=os.environ.get("FORWARDED_ALLOW_IPS") or "127.0.0.1")  # type: ignore[arg-type]


async def application(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
    elif scope["path"].startswith(HOT):
        await lean(scope, receive, send)
    else:
        await bounded(scope, receive, send)


async def bounded(scope: Message, receive: Receive, send: Send) -> None:
    """Django's own handler would spool a body of any length to the disk before a view is asked."""
    taken = max((int(value) for name, value in scope["headers"] if name == b"content-length"), default=0)
    if taken <= settings.MAX_BODY_BYTES:
        taken = 0

        async def receive_bounded() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return message if taken <= settings.MAX_BODY_BYTES else {"type": "http.disconnect"}

        await stock(scope, receive_bounded, send)  # type: ignore[arg-type]
    if taken > settings.MAX_BODY_BYTES:
        response = last_answer(why_not(scope))
        requests.note(None, scope["method"], response.status_code, perf_counter())
        await answer_and_drain(head_of(response), response.content, receive, send)


def why_not(scope: Message) -> ApiError:
    """A body too large, unless the Admin API's secret is missing: who calls is asked before what is sent."""
    path = scope["path"]
    if path.startswith("/admin/") and not path.endswith("/"):
        try:
            operators.authenticate(Request(scope, BytesIO()))
        except Unauthorized as error:
            return error
    return PayloadTooLarge()


async def lifespan(receive: Receive, send: Send) -> None:
    await receive()
    shutdown.watch_for_shutdown()
    publishing = asyncio.create_task(board.keep_publishing())
    await send({"type": "lifespan.startup.complete"})
    await receive()
    publishing.cancel()
    board.try_to_publish()
    await send({"type": "lifespan.shutdown.complete"})
