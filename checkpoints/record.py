"""What intake calls: the saves of one batch become rows, the projection of their workflows moves, events result."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from uuid import UUID

import structlog

from checkpoints import rows, store
from checkpoints.content import Step, decode_envelope
from checkpoints.ids import checkpoint_id
from checkpoints.projection import Projection
from checkpoints.times import moment
from snapstate_project.events import catalogue
from snapstate_project.events.queue import QueueEntry
from snapstate_project.events.recording import EventRow

log = structlog.get_logger(__name__)
Identity = tuple[bytes, bytes]
"""Account and digest in hex, as the queue carries them."""


class RecordBatch:
    """One batch, from queue entries to settled. The cache of bases moves only with settle()."""

    def __init__(self, entries: Sequence[QueueEntry]) -> None:
        self.entries = entries
        self.by_workflow: dict[Identity, list[QueueEntry]] = defaultdict(list)
        for entry in entries:
            self.by_workflow[entry.fields[b"a"], entry.fields[b"d"]].append(entry)
        self.steps: dict[tuple[Identity, int], Step] = {}
        self.projections: dict[Identity, Projection] = {}
        self.written: list[rows.Chain] = []

    def fetch(self) -> None:
        wanted = [
            (identity, entry.shard, int(entry.fields[b"g"]), int(entry.fields[b"q"]))
            for identity, entries in self.by_workflow.items()
            for entry in entries
            if entry.fields[b"t"] == b"save"
        ]
        found = store.entries_at([(shard, *identity, gen, seq) for identity, shard, gen, seq in wanted])
        for (identity, _, _, sequence), step in zip(wanted, found, strict=True):
            if step is not None:
                self.steps[identity, sequence] = step

    def record(self, cursor: Any) -> list[EventRow]:
        names = {identity: entries[0].fields[b"w"].decode() for identity, entries in self.by_workflow.items()}
        self.projections = rows.lock_workflows(cursor, names)
        rows.load_existing(cursor, self._steps_at_or_below_heads())
        events = [
            event
            for identity, entries in self.by_workflow.items()
            for event in self._take(identity, self.projections[identity], entries)
        ]
        moved = [projection for projection in self.projections.values() if projection.moved]
        self.written = rows.write_history(cursor, moved)
        rows.write_workflows(cursor, moved)
        return events

    def _steps_at_or_below_heads(self) -> list[tuple[Projection, int]]:
        return [
            (self.projections[identity], step.step)
            for (identity, _), step in self.steps.items()
            if self.projections[identity].may_hold(step)
        ]

    def _take(self, identity: Identity, projection: Projection, entries: list[QueueEntry]) -> Iterator[EventRow]:
        for entry in entries:
            kind = entry.fields[b"t"]
            if kind == b"save":
                yield from self._take_save(identity, projection, entry)
            elif kind == b"patch":
                projection.patch(entry.fields)
            elif kind == b"resume":
                yield _resumed(projection, entry)
            elif kind == b"replay":
                yield _replayed(projection, entry)

    def _take_save(self, identity: Identity, projection: Projection, entry: QueueEntry) -> Iterator[EventRow]:
        generation, sequence = int(entry.fields[b"g"]), int(entry.fields[b"q"])
        if generation < projection.generation:
            yield _erased_save(entry)
            return
        if generation == projection.generation and sequence <= projection.last_sequence:
            return  # taken before; the crash came between commit and settle
        step = self.steps.get((identity, sequence))
        if step is None:
            log.critical("saved_bytes_missing", digest=entry.fields[b"d"].decode(), sequence=sequence)
            return
        before = projection.status if projection.head_step is not None else None
        how = projection.take(step, entry.fields)
        yield _saved(entry, step, replaced=how == "replaced", head_changed=how != "late")
        if how != "late" and projection.status != before and projection.status in ("completed", "failed"):
            yield _status_changed(entry, step, projection.status)

    def settle(self) -> None:
        for chain in self.written:
            rows.cache.put(chain)
        by_shard: dict[int, list[QueueEntry]] = defaultdict(list)
        for entry in self.entries:
            by_shard[entry.shard].append(entry)
        for shard, entries in by_shard.items():
            identities = {(entry.fields[b"a"], entry.fields[b"d"]) for entry in entries}
            settled = [(*identity, self.projections[identity].settled()) for identity in identities]
            store.settle(shard, [entry.id for entry in entries], settled)


def _row(
    entry: QueueEntry, event_type: str, body: catalogue.Body, *, erased: bool = False, uid: bytes = b""
) -> EventRow:
    at = moment(int(entry.fields.get(b"m") or entry.written_at))
    return uid or entry.uid, event_type, _account(entry.fields[b"a"]), at, erased, catalogue.encode(body)


@lru_cache(maxsize=10_000)
def _account(digits: bytes) -> UUID:
    return UUID(hex=digits.decode())


def _erased_save(entry: QueueEntry) -> EventRow:
    """The save was billable and its workflow is gone since: metered, without user text."""
    body = catalogue.CheckpointSaved(
        digest=entry.fields[b"d"].decode(),
        generation=int(entry.fields[b"g"]),
        sequence=int(entry.fields[b"q"]),
        step=int(entry.fields[b"s"]),
        size_bytes=int(entry.fields[b"z"]),
    )
    return _row(entry, "checkpoint.saved", body, erased=True)


def _saved(entry: QueueEntry, step: Step, *, replaced: bool, head_changed: bool) -> EventRow:
    envelope = decode_envelope(step.envelope)
    body = catalogue.CheckpointSaved(
        **_named(entry, step),
        size_bytes=len(step.state),
        label=envelope.label,
        agent_id=envelope.agent_id,
        status=envelope.status,
        replaced=replaced,
        head_changed=head_changed,
        error_type=envelope.error.type if envelope.error else None,
        error_message=envelope.error.message if envelope.error else None,
    )
    return _row(entry, "checkpoint.saved", body)


def _status_changed(entry: QueueEntry, step: Step, status: str) -> EventRow:
    envelope = decode_envelope(step.envelope)
    uid = blake2b(entry.uid + status.encode(), digest_size=16).digest()
    body = catalogue.WorkflowCompleted(**_named(entry, step), agent_id=envelope.agent_id)
    if status == "failed":
        error = envelope.error
        body = catalogue.WorkflowFailed(
            **_named(entry, step),
            agent_id=envelope.agent_id,
            error_type=error.type if error else None,
            error_message=error.message if error else None,
        )
    return _row(entry, f"workflow.{status}", body, uid=uid)


def _named(entry: QueueEntry, step: Step) -> dict[str, Any]:
    workflow_id = entry.fields[b"w"].decode()
    return {
        "digest": entry.fields[b"d"].decode(),
        "generation": step.generation,
        "sequence": step.sequence,
        "step": step.step,
        "workflow_id": workflow_id,
        "checkpoint_id": checkpoint_id(workflow_id, step.step),
        "etag": f'"{step.etag}"',
    }


def _resumed(projection: Projection, entry: QueueEntry) -> EventRow:
    generation, erased = int(entry.fields[b"g"]), int(entry.fields[b"g"]) < projection.generation
    body = catalogue.WorkflowResumed(
        digest=entry.fields[b"d"].decode(),
        generation=generation,
        source=entry.fields[b"o"].decode(),
        **({} if erased else _resumed_by(entry)),
    )
    return _row(entry, "workflow.resumed", body, erased=erased)


def _resumed_by(entry: QueueEntry) -> dict[str, Any]:
    """Who resumed what."""
    workflow_id, agent_id = entry.fields[b"w"].decode(), entry.fields[b"n"].decode() or None
    step = int(entry.fields[b"s"])
    return {
        "workflow_id": workflow_id,
        "agent_id": agent_id,
        "checkpoint_id": checkpoint_id(workflow_id, step),
        "step": step,
        "etag": f'"{entry.fields[b"e"].decode()}"',
        "sequence": int(entry.fields[b"v"]),
    }


def _replayed(projection: Projection, entry: QueueEntry) -> EventRow:
    generation, erased = int(entry.fields[b"g"]), int(entry.fields[b"g"]) < projection.generation
    body = catalogue.WorkflowReplayed(
        digest=entry.fields[b"d"].decode(),
        generation=generation,
        count=int(entry.fields[b"n"]),
        workflow_id="" if erased else entry.fields[b"w"].decode(),
    )
    return _row(entry, "workflow.replayed", body, erased=erased)
