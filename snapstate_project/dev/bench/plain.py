"""The other yardstick: a plain ASGI app that does all of a request's work as we do it, only without Django and DRF.

The same admission, parsing, service and answer, in the same requests. What lies between it and the bare app is what
the contract asks for; what lies between it and us is what the frameworks cost.
"""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "snapstate_project.settings")
django.setup(set_prefix=False)

from accounts.admission import admit  # noqa: E402 (models need the setup)
from accounts.callers import Caller  # noqa: E402
from checkpoints import answers, envelope, services  # noqa: E402
from snapstate_project.common.api import encode  # noqa: E402
from snapstate_project.common.ids import workflow_id_from_path  # noqa: E402
from snapstate_project.dev.bench.bare import Message, Receive, Send, lifespan, read  # noqa: E402


async def application(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
        return
    if scope["path"] == "/ready/-":
        await answer(b"{}", "", 200, send)
        return
    headers: dict[bytes, bytes] = dict(scope["headers"])
    caller = (await admit(headers[b"authorization"].removeprefix(b"Bearer ").decode()))[0]
    if scope["method"] == "POST":
        await save(caller, await read(receive), send)
    else:
        await resume(caller, scope["raw_path"].decode().split("/")[2], send)


async def save(caller: Caller, body: bytes, send: Send) -> None:
    new = envelope.parse(body, {})
    outcome = await services.save_checkpoint(caller.account_id, new)
    await answer(answers.saved(new, outcome).content, outcome.etag, 200 if outcome.replayed else 201, send)


async def resume(caller: Caller, segment: str, send: Send) -> None:
    workflow_id = workflow_id_from_path(segment)
    head, step, source = await services.resume_workflow(caller.account_id, workflow_id, None)
    await answer(encode(answers.resumed(workflow_id, head, step, source)), step.etag, 200, send)


async def answer(body: bytes, etag: str, status: int, send: Send) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"etag", b'"%b"' % etag.encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
