"""Rows of workflows and history going in. Whoever calls holds the locks of the Workflow rows, taken in id order."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from uuid import UUID

from checkpoints import codec, segments
from checkpoints.chains import detach, newest
from checkpoints.content import Step, decode_envelope, pack
from checkpoints.projection import Existing, Projection
from checkpoints.times import moment
from checkpoints.verdicts import Range
from snapstate_project.common.exact_text import escape_nul, unescape_nul

CACHE_BYTES = 64 * 1_048_576

_COLUMNS = [item.name for item in fields(Projection)][:30]
_LABEL = _COLUMNS.index("label")
_SELECT = f"""
    SELECT {", ".join(f"w.{name}" for name in _COLUMNS)} FROM checkpoints_workflow w
    JOIN unnest(%s::uuid[], %s::bytea[]) AS k (account_id, digest) USING (account_id, digest)
    ORDER BY w.id FOR UPDATE OF w
"""  # noqa: S608
_INSERT = """
    INSERT INTO checkpoints_workflow (account_id, digest, workflow_id, generation, last_sequence, head_guard, status,
        version, saved_sequence, archived_sequence, dropped_sequence, metadata_terms, total_checkpoints, size_bytes,
        stored_bytes, pinned)
    SELECT account_id, digest, '', 1, 0, '', 'active', 0, 0, 0, 0, '{}', 0, 0, 0, false
    FROM unnest(%s::uuid[], %s::bytea[]) AS k (account_id, digest)
    ON CONFLICT (account_id, digest) DO NOTHING
"""
_MOVING = [name for name in _COLUMNS if name not in ("id", "account_id", "digest")] + ["archive_at"]
_UPDATE = f"""
    UPDATE checkpoints_workflow SET {", ".join(f"{name} = %s" for name in _MOVING)}, erased_at = NULL WHERE id = %s
"""  # noqa: S608
_COPY = """
    COPY checkpoints_checkpoint (workflow_id, sequence, step, anchor, base, created_at, generation, size_bytes,
        digest, status, guard, agent_id, label, body) FROM STDIN
"""


@dataclass(frozen=True, slots=True)
class Chain:
    """The newest row of a workflow's history by sequence: what the next delta stands on.

    It still is while the workflow's version is `as_of`: a commit of ours whose answer was lost moves that, and so does
    whoever else changes rows.
    """

    workflow: int
    generation: int
    sequence: int
    anchor: int
    depth: int
    content: bytes
    as_of: int = 0


class ChainCache:
    """The newest rows that were committed, by workflow; the least lately written go first."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self.chains: OrderedDict[int, Chain] = OrderedDict()

    def get(self, workflow: int, generation: int, as_of: int) -> Chain | None:
        """None unless the workflow stands where our own last commit left it."""
        chain = self.chains.get(workflow)
        return chain if chain and (chain.generation, chain.as_of) == (generation, as_of) else None

    def put(self, chain: Chain) -> None:
        self.drop(chain.workflow)
        self.chains[chain.workflow] = chain
        self.bytes += len(chain.content)
        while self.bytes > self.most_bytes:
            self.drop(next(iter(self.chains)))

    def drop(self, workflow: int) -> None:
        old = self.chains.pop(workflow, None)
        self.bytes -= len(old.content) if old else 0


cache = ChainCache(CACHE_BYTES)


def lock_workflows(cursor: Any, names: dict[tuple[bytes, bytes], str]) -> dict[tuple[bytes, bytes], Projection]:
    """The rows of these workflows (account and digest in hex → workflow id), made where missing, locked in id order."""
    found = _select(cursor, list(names))
    missing = [identity for identity in names if identity not in found]
    if missing:
        cursor.execute(_INSERT, _keys(missing))
        found |= _select(cursor, missing)
    for identity, projection in found.items():
        projection.workflow_id = names[identity]
    return found


def _keys(identities: Sequence[tuple[bytes, bytes]]) -> list[list[Any]]:
    return [
        [UUID(hex=account.decode()) for account, _ in identities],
        [bytes.fromhex(digest.decode()) for _, digest in identities],
    ]


def _select(cursor: Any, identities: Sequence[tuple[bytes, bytes]]) -> dict[tuple[bytes, bytes], Projection]:
    cursor.execute(_SELECT, _keys(identities))
    return {(row[1].hex.encode(), bytes(row[2]).hex().encode()): _projection(row) for row in cursor.fetchall()}


def _projection(row: Sequence[Any]) -> Projection:
    values: list[Any] = [bytes(value) if isinstance(value, memoryview) else value for value in row]
    values[_LABEL] = values[_LABEL] and unescape_nul(values[_LABEL])
    projection = Projection(*values)
    projection.had_rows = projection.total_checkpoints > 0
    projection.found_at = projection.version
    return projection


def load_existing(cursor: Any, wanted: list[tuple[Projection, int]]) -> None:
    """Tell projections which of these steps are stored already, in rows or in segments."""
    if not wanted:
        return
    cursor.execute(
        """SELECT c.workflow_id, c.step, c.sequence, c.size_bytes, octet_length(c.body) FROM checkpoints_checkpoint c
        JOIN unnest(%s::bigint[], %s::int[], %s::bigint[]) AS k (workflow_id, generation, step)
        USING (workflow_id, generation, step)""",
        [[p.id for p, _ in wanted], [p.generation for p, _ in wanted], [step for _, step in wanted]],
    )
    projections = {projection.id: projection for projection, _ in wanted}
    for workflow, step, sequence, size, stored in cursor.fetchall():
        projections[workflow].existing[step] = Existing(sequence, size, stored)
    for projection, step in wanted:
        if projection.dropped_sequence and step not in projection.existing:
            for entry in segments.entries(projection.id, projection.generation, Range(first=step, last=step)):
                projection.existing[step] = Existing(entry.sequence, entry.size, 0)


def write_workflows(cursor: Any, moved: Sequence[Projection]) -> None:
    if moved:
        cursor.executemany(_UPDATE, [_values(projection) for projection in moved])


def _values(projection: Projection) -> list[Any]:
    values = [getattr(projection, name) for name in _MOVING]
    label = _MOVING.index("label")
    values[label] = values[label] and escape_nul(values[label])
    return [*values, projection.id]


def write_history(cursor: Any, moved: Sequence[Projection]) -> list[Chain]:
    """Insert the new steps of these workflows as deltas; the chains to remember after the commit."""
    chains = _chains(cursor, [projection for projection in moved if projection.new])
    for projection in moved:
        projection.version += 1
    written: list[list[Any]] = []
    for projection in moved:
        _remove_replaced(cursor, projection, chains)
        for step in sorted(projection.new.values(), key=lambda step: step.sequence):
            row, chains[projection.id] = _encoded(projection, step, chains.get(projection.id))
            projection.stored_bytes += len(row[-1])
            written.append(row)
    if written:
        with cursor.copy(_COPY) as copy:
            for row in written:
                copy.write_row(row)
    return [replace(chains[p.id], as_of=p.version) for p in moved if p.id in chains]


def _encoded(projection: Projection, step: Step, last: Chain | None) -> tuple[list[Any], Chain]:
    content = pack(step.envelope, step.metadata, step.state)
    base = last if last is not None and _may_stand_on(last, step, projection) else None
    body = codec.encode(content, base.content if base else None)
    anchor, depth = (base.anchor, base.depth + 1) if base else (step.sequence, 0)
    envelope = decode_envelope(step.envelope)
    label = None if envelope.label is None else escape_nul(envelope.label)
    row = [
        projection.id, step.sequence, step.step, anchor, base.sequence if base else None, moment(step.at),
        step.generation, len(step.state), bytes.fromhex(step.digest), envelope.status, step.guard,
        envelope.agent_id, label, body,
    ]  # fmt: skip
    return row, Chain(projection.id, step.generation, step.sequence, anchor, depth, content)


def _may_stand_on(last: Chain, step: Step, projection: Projection) -> bool:
    """Not on what is archived: those rows go one day, and nothing else looks at what stands on them."""
    alive = last.generation == step.generation and last.sequence > projection.archived_sequence
    return alive and last.depth + 1 < codec.FULL_EVERY


def _chains(cursor: Any, projections: Sequence[Projection]) -> dict[int, Chain]:
    """The newest row of each, from memory or decoded from Postgres in one query."""
    held = {p.id: chain for p in projections if (chain := cache.get(p.id, p.generation, p.found_at))}
    cold = [p for p in projections if p.id not in held and p.had_rows]
    return held | newest(cursor, [(p.id, p.generation) for p in cold], Chain) if cold else held


def _remove_replaced(cursor: Any, projection: Projection, chains: dict[int, Chain]) -> None:
    replaced = [projection.existing[step] for step in projection.new if step in projection.existing]
    if not replaced:
        return
    sequences = [row.sequence for row in replaced]
    projection.stored_bytes += detach(cursor, projection.id, sequences) - sum(row.stored for row in replaced)
    cursor.execute(
        "DELETE FROM checkpoints_checkpoint WHERE workflow_id = %s AND sequence = ANY(%s)", [projection.id, sequences]
    )
    # The newest row is gone, or stands in a chain that starts anew now: the next row starts one of its own.
    chains.pop(projection.id, None)
