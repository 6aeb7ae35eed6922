"""The hot tier. Each function is one round trip and one script; nothing here knows of Postgres."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from checkpoints.content import Step, etag
from checkpoints.envelope import NewCheckpoint
from checkpoints.ids import WorkflowKey
from checkpoints.verdicts import Ask, Busy, Compare, Head, Range, Refused, Replayed, Resumed, Saved, Tail
from snapstate_project.common import redis
from snapstate_project.common.randomness import RandomNames
from snapstate_project.common.redis import Script
from snapstate_project.events.queue import SEPARATOR

KEEP_STEPS = 20
KEEP_BYTES = 1_048_576
Argument = bytes | str | int
_LUA = Path(__file__).parent / "lua"
_save, _resume, _read, _patch = (
    Script(_LUA / "workflow.lua", _LUA / f"{name}.lua") for name in ("save", "resume", "read", "patch")
)
# Without what Postgres holds these install nothing, and go on while Redis is full.
_resume_held, _read_held = (
    Script(_LUA / "workflow.lua", _LUA / f"{name}.lua", allow_oom=True) for name in ("resume", "read")
)
_erase, _settle, _evict, _prune, _note_read = (
    Script(_LUA / f"{name}.lua") for name in ("erase", "settle", "evict", "prune", "note")
)


random_half = RandomNames(lambda random: random[:8].hex()).take


def event(kind: str, key: WorkflowKey, **fields: Argument) -> str:
    """An event as far as it is known here, for a script to end. Its uid rises with time: the index of it stays warm."""
    uid = f"{time.time_ns():016x}{random_half()}"
    known = ("t", kind, "u", uid, "a", key.named[0], "d", key.named[1], "w", key.workflow_id)
    return SEPARATOR.join([*known, *(str(part) for pair in fields.items() for part in pair)] if fields else known)


class Ahead(Protocol):
    """What a caller believes to be the head (its generation and sequence, or ""), and what it does on that belief."""

    @property
    def head(self) -> str: ...
    def work_out(self) -> None: ...


async def save(key: WorkflowKey, new: NewCheckpoint, known: bytes, default_ttl: int, ahead: Ahead | None = None) -> Any:
    """Saved, Replayed, Refused, Compare, Busy or Ask."""
    believed = (ahead.head if ahead else "") or "?"
    reply = await redis.link().run(
        _save,
        key.redis_keys,
        [
            known, new.step, new.digest, new.guard, new.state, new.metadata, new.envelope, new.status,
            "" if new.ttl_seconds is None else new.ttl_seconds, default_ttl, believed if new.wants_diff else "",
            event("save", key),
        ],
        meanwhile=ahead.work_out if ahead else None,
    )  # fmt: skip
    return _SAVE_REPLIES[reply[0]](*reply[1:])


async def resume(key: WorkflowKey, known: bytes, agent_id: str | None) -> Resumed | Ask | None:
    script = _resume if known else _resume_held
    reply = await redis.link().run(script, key.redis_keys, [known, event("resume", key, n=agent_id or "")])
    if reply[0] == b"head":
        head = _head(reply[1])
        return Resumed(head, _step(head, head.sequence, reply[2]) if reply[2] else None, reply[3].decode())
    return _ask(*reply[1:]) if reply[0] == b"ask" else None


async def read(key: WorkflowKey, known: bytes, wanted: Range) -> Tail | Ask | None:
    order = "desc" if wanted.newest_first else "asc"
    noted = event("replay", key) if wanted.metered else ""
    reply = await redis.link().run(
        _read if known else _read_held,
        key.redis_keys,
        [known, wanted.first, wanted.last, order, wanted.limit, wanted.room, noted],
    )
    if reply[0] == b"tail":
        head = _head(reply[1])
        steps = [_step(head, int(sequence), entry) for sequence, entry in reply[2]]
        return Tail(head, steps, bool(reply[3]), bool(reply[4]))
    return _ask(*reply[1:]) if reply[0] == b"ask" else None


async def note_replay(key: WorkflowKey, generation: int, count: int) -> None:
    """Write down a replay that was answered from more than the tail."""
    await _note(key, event("replay", key, g=generation, q=0, n=count))


async def note_resume(key: WorkflowKey, head: Head, agent_id: str | None, source: str) -> None:
    """Write down a resume whose state came from a colder tier, as resume.lua does one of Redis."""
    tag = etag(head.generation, head.sequence, head.digest)
    seen: dict[str, Argument] = {"s": head.step, "v": head.sequence, "e": tag}
    await _note(key, event("resume", key, g=head.generation, q=0, n=agent_id or "", o=source, **seen))


async def _note(key: WorkflowKey, whole_event: str) -> None:
    await redis.link().run(_note_read, [key.redis_keys[3]], [whole_event])


async def patch(
    key: WorkflowKey, known: bytes, *, ttl: str, pinned: str, keep_last: str, default_ttl: int
) -> Ask | bool:
    """Whether there was a workflow to change; '' leaves a setting, '-' removes `keep_last`."""
    arguments: list[Argument] = [known, ttl, pinned, keep_last, default_ttl, event("patch", key)]
    reply = await redis.link().run(_patch, key.redis_keys, arguments)
    return _ask(*reply[1:]) if reply[0] == b"ask" else bool(reply[0] == b"patched")


def erase(account_hex: str, digest: bytes, generation: int, last_sequence: int) -> None:
    """Take what is older than `generation` from Redis. Synchronous: also run by background processes."""
    names = WorkflowKey(UUID(account_hex), "", digest).redis_keys
    redis.run_script(_erase, [*names[:3], names[4]], [generation, last_sequence])


def evict(account_id: UUID, digest: bytes, generation: int, last_sequence: int, version: int) -> bool:
    """Take a workflow from Redis unless it holds more than Postgres does; whether nothing of it is left."""
    names = WorkflowKey(account_id, "", digest).redis_keys
    return bool(redis.run_script(_evict, [*names[:3], names[4]], [generation, last_sequence, version]))


class Left(NamedTuple):
    """What retention leaves of a workflow: the lowest step, how many, their bytes of state, the row's version."""

    first_step: int
    total: int
    size: int
    version: int


def prune(key: WorkflowKey, generation: int, last_sequence: int, left: Left) -> bool:
    """Take lower steps from the tail; False when Redis has gone on meanwhile and nothing was done."""
    return bool(redis.run_script(_prune, key.redis_keys[:3], [generation, last_sequence, *left]))


def is_ahead(account_id: UUID, digest: bytes, generation: int, last_sequence: int) -> bool:
    """Whether Redis holds what Postgres has not taken yet."""
    with redis.outages_as_ours():
        held: list[Any] = redis.client().hmget(WorkflowKey(account_id, "", digest).redis_keys[0], ["gen", "last"])
    return bool(held[0]) and (int(held[0]), int(held[1])) > (generation, last_sequence)


def entries_at(places: Sequence[tuple[int, bytes, bytes, int, int]]) -> list[Step | None]:
    """The log entries at (shard, account, digest, generation, sequence), in one trip; None where there is none."""
    logs = [f"wf:{{{shard:02d}}}:{account.decode()}:{digest.decode()}:log" for shard, account, digest, _, _ in places]
    wanted: dict[str, list[int]] = {}
    for log, (*_, sequence) in zip(logs, places, strict=True):
        wanted.setdefault(log, []).append(sequence)
    with redis.outages_as_ours(), redis.client().pipeline(transaction=False) as pipe:
        for log, sequences in wanted.items():
            pipe.xrange(log, min(sequences), max(sequences))
        replies = pipe.execute()
    found = {(log, name): fields for log, entries in zip(wanted, replies, strict=True) for name, fields in entries}
    return [
        entry_step(generation, sequence, _flat(fields)) if (fields := found.get((log, b"%d-0" % sequence))) else None
        for log, (*_, generation, sequence) in zip(logs, places, strict=True)
    ]


def _flat(fields: Any) -> list[bytes]:
    return [part for pair in fields.items() for part in pair] if isinstance(fields, dict) else fields


def settle(shard: int, entry_ids: Sequence[bytes], workflows: Sequence[tuple[bytes, bytes, Sequence[int]]]) -> None:
    """After a commit: take entries off the queue of a shard and trim the tails of (account, digest, settled)."""
    names = [f"{{{shard:02d}}}:{account.decode()}:{digest.decode()}" for account, digest, _ in workflows]
    places = [
        place for name in names for place in (f"wf:{name}:head", f"wf:{name}:log", f"wf:{name}:steps", f"gone:{name}")
    ]
    figures = [figure for _, _, settled in workflows for figure in settled]
    arguments: list[Argument] = [KEEP_STEPS, KEEP_BYTES, len(entry_ids), *entry_ids, *figures]
    redis.run_script(_settle, [f"events:{{{shard:02d}}}", *places], arguments)


async def generation_of(key: WorkflowKey) -> int:
    """The generation that Redis holds, 0 when it holds nothing."""
    return int(await redis.link().execute("HGET", key.redis_keys[0], "gen") or 0)


def _ask(why: bytes, basis: bytes) -> Ask:
    return Ask(why.decode(), basis.decode())


def _refused(why: bytes, etag: bytes, step: bytes) -> Refused:
    return Refused(why.decode(), etag.decode() or None, int(step) if step else None)


def _head(flat: list[bytes]) -> Head:
    raw = dict(zip(flat[::2], flat[1::2], strict=True))
    return Head(
        generation=int(raw[b"gen"]), last=int(raw[b"last"]), sequence=int(raw[b"seq"]), step=int(raw[b"step"]),
        digest=raw[b"digest"].decode(), status=raw[b"status"].decode(), total=int(raw[b"total"]),
        size=int(raw[b"size"]), started=int(raw[b"started"]), at=int(raw[b"at"]), ttl=_optional(raw[b"ttl"]),
        expires=int(raw[b"expires"]), pinned=raw[b"pinned"] == b"1", keep_last=_optional(raw[b"keep"]),
    )  # fmt: skip


def _optional(number: bytes) -> int | None:
    return int(number) if number else None


def _step(head: Head, sequence: int, entry: list[bytes]) -> Step:
    return entry_step(head.generation, sequence, entry)


def entry_step(generation: int, sequence: int, entry: list[bytes]) -> Step:
    """A log entry (its flat fields, in the order the scripts write them) as a Step."""
    _, step, _, at, _, digest, _, guard, _, envelope, _, metadata, _, state = entry
    return Step(
        generation=generation, sequence=sequence, step=int(step), at=int(at), digest=digest.decode(),
        guard=guard.decode(), envelope=envelope, metadata=metadata, state=state,
    )  # fmt: skip


_SAVE_REPLIES: dict[bytes, Any] = {
    b"saved": lambda etag, at, gen, seq, how, previous, pace: Saved(
        etag.decode(), at, gen, seq, how.decode(), previous, pace
    ),
    b"replay": lambda etag, at, seq, size: Replayed(etag.decode(), int(at), int(seq), int(size)),
    b"conflict": _refused,
    b"compare": lambda generation, seq, entry: Compare(entry_step(int(generation), int(seq), entry)),
    b"busy": Busy,
    b"ask": _ask,
}
