"""The warm tier: what Postgres holds of a workflow, decoded. Synchronous; run outside the event loop."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import connection, transaction
from zstandard import ZstdError

from checkpoints import codec
from checkpoints.content import Envelope, Step, encode_envelope, unpack
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


COLUMNS = ", ".join(Row._fields)
MOST_ROWS = 10_000
UNREADABLE = (ZstdError, LookupError, ValueError)
"""What comes of decoding rows that are damaged, or whose base is missing."""


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


def steps_in(
    workflow: Workflow, wanted: Range, label: str | None = None, without: Sequence[int] = ()
) -> tuple[list[Step], bool]:
    """Steps of the current generation in a range, and whether there are more; ends early when `room` is used up."""
    direction = "DESC" if wanted.newest_first else "ASC"
    labelled = "" if label is None else " AND label = %s AND NOT step = ANY(%s)"
    values: list[Any] = [workflow.pk, workflow.generation, wanted.first, wanted.last]
    values += [] if label is None else [escape_nul(label), list(without)]
    where = f"workflow_id = %s AND generation = %s AND step BETWEEN %s AND %s{labelled}"
    return _decoded(workflow, where, values, f"step {direction}", min(wanted.limit, 2**31), wanted.room)


def steps_above(workflow: Workflow, sequence: int, room: int) -> list[Step]:
    """Rows of the current generation behind a sequence, in its order, as many as fit (one at least)."""
    where = "workflow_id = %s AND generation = %s AND sequence > %s"
    return _decoded(workflow, where, [workflow.pk, workflow.generation, sequence], "sequence", MOST_ROWS, room)[0]


def _decoded(
    workflow: Workflow, where: str, values: list[Any], order: str, limit: int, room: int
) -> tuple[list[Step], bool]:
    """The first rows, at most `limit`, whose states fit into `room` (one at least); and whether there are more.

    Which ones fit is found out without their bodies, which are read for those alone.
    """
    rows = _query(
        f"""SELECT {COLUMNS}, found FROM (
            SELECT *, sum(size_bytes) OVER (ORDER BY {order}) AS filled, count(*) OVER () AS found,
                row_number() OVER (ORDER BY {order}) AS place
            FROM (SELECT * FROM checkpoints_checkpoint WHERE {where} ORDER BY {order} LIMIT %s) AS first
        ) AS rows WHERE place <= %s AND (filled <= %s OR place = 1) ORDER BY {order}""",  # noqa: S608
        [*values, limit + 1, limit, room],
    )
    kept = [Row(*row[:-1]) for row in rows]
    return decode(workflow.pk, kept), bool(rows) and rows[0][-1] > len(kept)


def held_steps(workflow: Workflow, steps: Sequence[int]) -> set[int]:
    """Which of these steps have a row."""
    rows = _query(
        "SELECT step FROM checkpoints_checkpoint WHERE workflow_id = %s AND generation = %s AND step = ANY(%s)",
        [workflow.pk, workflow.generation, list(steps)],
    )
    return {step for (step,) in rows}


def head_without_state(key: WorkflowKey, head: Head) -> Step | None:
    """The head's small fields, from the workflow's row; None when that is of another head."""
    workflow = find(key)
    if workflow is None or (workflow.generation, workflow.head_sequence) != (head.generation, head.sequence):
        return None
    envelope = Envelope(workflow.label, workflow.agent_id, head.status, None)  # type: ignore[arg-type]
    return Step(
        generation=head.generation,
        sequence=head.sequence,
        step=head.step,
        at=0,
        digest=head.digest,
        guard=workflow.head_guard,
        envelope=encode_envelope(envelope),
        metadata=bytes(workflow.metadata or b""),
        state=b"",
    )


def _query(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


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
