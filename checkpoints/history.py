"""The warm tier: what Postgres holds of a workflow, decoded. Synchronous; run outside the event loop."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from django.db import connection, transaction

from checkpoints import codec
from checkpoints.content import Step, pack, unpack
from checkpoints.ids import WorkflowKey
from checkpoints.models import Workflow
from checkpoints.times import microseconds
from checkpoints.verdicts import Head, KnownHead, Range
from snapstate_project.common.exact_text import escape_nul


class Row(NamedTuple):
    """A row of history, still encoded."""

    sequence: int
    step: int
    anchor: int
    base: int | None
    created_at: Any
    generation: int
    size_bytes: int
    digest: bytes
    guard: str
    body: bytes


_COLUMNS = ", ".join(Row._fields)


@contextmanager
def snapshot() -> Iterator[None]:
    """All reads inside see one state of Postgres, so that a row and its history belong together."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield


def knows(key: WorkflowKey) -> bool:
    """Whether there is a row at all: what every first save asks, so in one plain query."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM checkpoints_workflow WHERE account_id = %s AND digest = %s", [key.account_id, key.digest]
        )
        return bool(cursor.rowcount)


def find(key: WorkflowKey) -> Workflow | None:
    """The row of a workflow, erased ones included: they hold its generation."""
    return Workflow.objects.filter(account_id=key.account_id, digest=key.digest).first()


def steps_in(workflow: Workflow, wanted: Range, label: str | None = None) -> tuple[list[Step], bool]:
    """Steps of the current generation in a range, and whether there are more; ends early when `room` is used up."""
    rows = _rows(workflow, wanted, label)
    kept = _fitting(rows[: wanted.limit], wanted.room)
    return decode(workflow.pk, kept), len(rows) > len(kept)


def steps_above(workflow: Workflow, sequence: int, room: int) -> list[Step]:
    """Rows of the current generation behind a sequence, in its order, as many as fit (one at least)."""
    rows = _query(
        f"SELECT {_COLUMNS} FROM checkpoints_checkpoint WHERE workflow_id = %s AND generation = %s"  # noqa: S608
        " AND sequence > %s ORDER BY sequence",
        [workflow.pk, workflow.generation, sequence],
    )
    return decode(workflow.pk, _fitting(rows, room))


def _fitting(rows: list[Row], room: int) -> list[Row]:
    for count, row in enumerate(rows):
        room -= row.size_bytes
        if room < 0 and count:
            return rows[:count]
    return rows


def _rows(workflow: Workflow, wanted: Range, label: str | None) -> list[Row]:
    order = "DESC" if wanted.newest_first else "ASC"
    labelled = "" if label is None else "AND label = %s"
    values: list[Any] = [workflow.pk, workflow.generation, wanted.first, wanted.last]
    values += [] if label is None else [escape_nul(label)]
    return _query(
        f"SELECT {_COLUMNS} FROM checkpoints_checkpoint WHERE workflow_id = %s AND generation = %s"  # noqa: S608
        f" AND step BETWEEN %s AND %s {labelled} ORDER BY step {order} LIMIT %s",
        [*values, min(wanted.limit, 2**31) + 1],
    )


def _query(sql: str, values: Sequence[Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [Row(*row) for row in cursor.fetchall()]


def decode(workflow_pk: int, rows: Iterable[Row]) -> list[Step]:
    """The rows as steps, in the same order; the rows their deltas stand on are fetched in one query."""
    wanted = list(rows)
    held = {row.sequence: (row.base, row.body) for row in wanted}
    held |= _bases(workflow_pk, wanted, held.keys())
    contents = decode_chains(held)
    return [_step(row, contents[row.sequence]) for row in wanted]


def _bases(workflow_pk: int, rows: list[Row], have: Iterable[int]) -> dict[int, tuple[int | None, bytes]]:
    deltas = [row for row in rows if row.base is not None]
    if not deltas:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sequence, base, body FROM checkpoints_checkpoint WHERE workflow_id = %s"
            " AND sequence BETWEEN %s AND %s AND anchor = ANY(%s) AND NOT sequence = ANY(%s)",
            [
                workflow_pk,
                min(row.anchor for row in deltas),
                max(row.sequence for row in deltas),
                sorted({row.anchor for row in deltas}),
                list(have),
            ],
        )
        return {sequence: (base, body) for sequence, base, body in cursor.fetchall()}


def decode_chains(held: dict[int, tuple[int | None, bytes]]) -> dict[int, bytes]:
    """Contents by sequence. A base always comes before what stands on it, so ascending order decodes each once."""
    contents: dict[int, bytes] = {}
    for sequence in sorted(held):
        base, body = held[sequence]
        if base is None or base in contents:
            contents[sequence] = codec.decode(bytes(body), None if base is None else contents[base])
    return contents


def _step(row: Row, content: bytes) -> Step:
    envelope, metadata, state = unpack(content)
    return Step(
        generation=row.generation,
        sequence=row.sequence,
        step=row.step,
        at=microseconds(row.created_at),
        digest=bytes(row.digest).hex(),
        guard=row.guard,
        envelope=envelope,
        metadata=metadata,
        state=state,
    )


def head_of(workflow: Workflow) -> Head:
    """The head as Redis would say it; of a workflow that has one."""
    return Head(
        generation=workflow.generation,
        last=workflow.last_sequence,
        sequence=workflow.head_sequence or 0,
        step=workflow.head_step or 0,
        digest=bytes(workflow.head_digest or b"").hex(),
        status=workflow.status,
        total=workflow.total_checkpoints,
        size=workflow.size_bytes,
        started=_micro(workflow.started_at),
        at=_micro(workflow.last_activity_at),
        ttl=workflow.ttl_seconds,
        expires=_micro(workflow.evict_at if workflow.evicted_at else workflow.expires_at),
        pinned=workflow.pinned,
        keep_last=workflow.keep_last,
        archived=workflow.is_cold,
    )


def known_head(workflow: Workflow, step: Step | None) -> KnownHead:
    """The head in the form the scripts install it; `step` is its checkpoint, when that could be read."""
    head = head_of(workflow)
    return KnownHead(
        seq=head.sequence,
        step=head.step,
        digest=head.digest,
        guard=workflow.head_guard,
        status=head.status,
        total=head.total,
        size=head.size,
        started=head.started,
        at=head.at,
        saved=step.at if step else 0,
        ttl="" if head.ttl is None else str(head.ttl),
        expires=head.expires,
        pinned=str(int(head.pinned)),
        keep="" if head.keep_last is None else str(head.keep_last),
    )


def _micro(at: Any) -> int:
    return microseconds(at) if at else 0


def newest[Link](
    cursor: Any, workflows: Sequence[tuple[int, int]], make: Callable[[int, int, int, int, int, bytes], Link]
) -> dict[int, Link]:
    """For each (workflow, generation): its newest row by sequence as make(workflow, generation, sequence, anchor,
    depth, content); none for a workflow without rows."""
    cursor.execute(
        """SELECT w.id, w.generation, c.sequence, c.anchor, c.base, c.body
        FROM unnest(%s::bigint[], %s::int[]) AS w (id, generation)
        CROSS JOIN LATERAL (
            SELECT anchor FROM checkpoints_checkpoint
            WHERE workflow_id = w.id AND generation = w.generation ORDER BY sequence DESC LIMIT 1
        ) AS last
        JOIN checkpoints_checkpoint c ON c.workflow_id = w.id AND c.sequence >= last.anchor AND c.anchor = last.anchor
        ORDER BY w.id, c.sequence""",
        [[pk for pk, _ in workflows], [generation for _, generation in workflows]],
    )
    found: dict[int, Link] = {}
    for (pk, generation), rows in groupby(cursor.fetchall(), key=itemgetter(0, 1)):
        chain = list(rows)
        contents = decode_chains({row[2]: (row[4], row[5]) for row in chain})
        last = chain[-1]
        found[pk] = make(pk, generation, last[2], last[3], len(chain) - 1, contents[last[2]])
    return found


def detach(cursor: Any, workflow_pk: int, sequences: Sequence[int]) -> int:
    """Re-encode in full what stands on these rows, so that they can go; by how many bytes the history grew."""
    cursor.execute(
        f"SELECT {_COLUMNS} FROM checkpoints_checkpoint"  # noqa: S608
        " WHERE workflow_id = %s AND base = ANY(%s) AND NOT sequence = ANY(%s) ORDER BY sequence",
        [workflow_pk, list(sequences), list(sequences)],
    )
    dependents = [Row(*row) for row in cursor.fetchall()]
    grown = 0
    for row, step in zip(dependents, decode(workflow_pk, dependents), strict=True):
        body = codec.encode(pack(step.envelope, step.metadata, step.state))
        grown += len(body) - len(row.body)
        cursor.execute(
            "UPDATE checkpoints_checkpoint SET base = NULL, body = %s WHERE workflow_id = %s AND sequence = %s",
            [body, workflow_pk, row.sequence],
        )
        # A chain is linear by sequence, so all behind this row stand on it now.
        cursor.execute(
            "UPDATE checkpoints_checkpoint SET anchor = %s WHERE workflow_id = %s AND anchor = %s AND sequence >= %s",
            [row.sequence, workflow_pk, row.anchor, row.sequence],
        )
    return grown
