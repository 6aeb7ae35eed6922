"""Chains of deltas: what the next row stands on, and how a row is taken out of the middle."""

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import structlog
from zstandard import ZstdError

from checkpoints import codec
from checkpoints.content import pack
from checkpoints.history import COLUMNS, Row, decode, decode_chains

log = structlog.get_logger(__name__)


def newest[Link](
    cursor: Any, workflows: Sequence[tuple[int, int]], make: Callable[[int, int, int, int, int, bytes], Link]
) -> dict[int, Link]:
    """For each (workflow, generation): its newest row by sequence as make(workflow, generation, sequence, anchor,
    depth, content); none for a workflow without rows, or whose newest cannot be read."""
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
        last = chain[-1]
        try:
            content = decode_chains({row[2]: (row[4], row[5]) for row in chain})[last[2]]
        except (KeyError, ZstdError):
            log.critical("history_damaged", workflow=pk, sequence=last[2])  # nobody's saves must wait for its repair
            continue
        found[pk] = make(pk, generation, last[2], last[3], len(chain) - 1, content)
    return found


def detach(cursor: Any, workflow_pk: int, sequences: Sequence[int]) -> int:
    """Re-encode in full what stands on these rows, so that they can go; by how many bytes the history grew."""
    cursor.execute(
        f"SELECT {COLUMNS} FROM checkpoints_checkpoint"  # noqa: S608
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
