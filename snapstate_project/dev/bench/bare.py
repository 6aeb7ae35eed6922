"""The yardstick: a bare ASGI app doing the Redis work of a request and nothing else, under the same server.

No Django, no DRF, no key, no validation, no hash, no diff: what a save needs comes ready in its path.
"""

import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from uuid import UUID

from checkpoints import store
from checkpoints.envelope import NewCheckpoint
from checkpoints.ids import WorkflowKey, workflow_key
from checkpoints.verdicts import Ask, Known, Range, Resumed, Saved, Tail
from snapstate_project.dev.bench.states import ENVELOPE

type Message = MutableMapping[str, Any]
type Receive = Callable[[], Awaitable[Message]]
type Send = Callable[[Message], Awaitable[None]]

ACCOUNT_VARIABLE = "SNAPSTATE_BENCH_ACCOUNT"
ACCOUNT = UUID(os.environ.get(ACCOUNT_VARIABLE) or UUID(int=0).hex)
TTL_SECONDS = 604_800
TWENTY = Range(limit=20, room=16 * 1_048_576, metered=True)


async def application(scope: Message, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        await lifespan(receive, send)
        return
    _, operation, workflow_id, *rest = scope["path"].split("/")
    body = await OPERATIONS[operation](workflow_key(ACCOUNT, workflow_id), rest, receive)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def lifespan(receive: Receive, send: Send) -> None:
    for done in ("lifespan.startup.complete", "lifespan.shutdown.complete"):
        await receive()
        await send({"type": done})


async def ready(_key: WorkflowKey, _rest: list[str], _receive: Receive) -> bytes:
    return b"{}"


async def save(key: WorkflowKey, rest: list[str], receive: Receive) -> bytes:
    saved = await save_prepared(key, int(rest[0]), rest[1], await read(receive))
    return b'{"etag":"%b"}' % saved.etag.encode()


async def save_prepared(key: WorkflowKey, step: int, digest: str, state: bytes) -> Saved:
    """The script's work of a save whose every argument is known."""
    new = NewCheckpoint(
        workflow_id=key.workflow_id,
        step=step,
        state=state,
        metadata=b"",
        envelope=ENVELOPE,
        status="active",
        digest=digest,
        ttl_seconds=None,
        guard="",
        wants_diff=True,
    )
    reply = await store.save(key, new, b"", TTL_SECONDS)
    if isinstance(reply, Ask):  # a workflow's first save, as Postgres would answer of one it does not know
        reply = await store.save(key, new, Known(basis=reply.basis).packed(), TTL_SECONDS)
    if not isinstance(reply, Saved):
        raise RuntimeError(f"{key.workflow_id} step {step} was not saved: {type(reply).__name__}")
    return reply


async def read(receive: Receive) -> bytes:
    message = await receive()
    if not message.get("more_body"):
        return bytes(message["body"])
    body = bytearray(message["body"])
    while message["more_body"]:
        message = await receive()
        body += message["body"]
    return bytes(body)


async def resume(key: WorkflowKey, _rest: list[str], _receive: Receive) -> bytes:
    reply = await store.resume(key, b"", None)
    if not isinstance(reply, Resumed) or reply.step is None:
        raise RuntimeError(f"{key.workflow_id} was not resumed")
    return b'{"state":%b}' % reply.step.state


async def replay(key: WorkflowKey, _rest: list[str], _receive: Receive) -> bytes:
    reply = await store.read(key, b"", TWENTY)
    if not isinstance(reply, Tail) or len(reply.steps) != TWENTY.limit:
        raise RuntimeError(f"{key.workflow_id} was not replayed")
    return b'{"states":[%b]}' % b",".join(step.state for step in reply.steps)


OPERATIONS = {"ready": ready, "save": save, "resume": resume, "replay": replay}
