"""The demo's archive: some of its oldest workflows stand there in real segments, and some could not be moved."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings

from checkpoints import archive, segment_format
from checkpoints.content import Step
from checkpoints.segment_format import Packed
from snapstate_project.demo.courses import Course
from snapstate_project.demo.population import Outline, Wanted

SEGMENT = """
    INSERT INTO checkpoints_archivesegment (workflow_id, generation, key, first_sequence, last_sequence, first_step,
        last_step, count, raw_bytes, stored_bytes, sha256, steps, created_at)
    SELECT w.id, 1, %(key)s, %(first)s, %(last)s, 1, %(count)s, %(count)s, w.size_bytes, %(stored)s, %(sha256)s,
        %(steps)s, w.archive_at
    FROM checkpoints_workflow w JOIN demo_workflow d ON d.id = w.id WHERE d.number = %(number)s
"""
MOVED = """
    UPDATE checkpoints_workflow w SET archived_sequence = w.last_sequence, dropped_sequence = w.last_sequence,
        version = 4, archive_at = NULL, evict_at = NULL, evicted_at = w.expires_at, stored_bytes = s.stored_bytes
    FROM demo_workflow d, checkpoints_archivesegment s WHERE w.id = d.id AND d.archived AND s.workflow_id = w.id
"""
DUE = """
    UPDATE checkpoints_workflow w SET expires_at = %(now)s + interval '5 h', archive_at = %(again)s,
        ttl_seconds = extract(epoch FROM %(now)s + interval '5 h' - last_activity_at)
    WHERE id IN (
        SELECT id FROM demo_workflow WHERE NOT archived AND NOT pinned ORDER BY ended_us LIMIT %(count)s
    )
    RETURNING id
"""
PROBLEM = """
    INSERT INTO checkpoints_archiveproblem (workflow_id, reason, attempts, first_at, last_at)
    SELECT id, (ARRAY['EndpointConnectionError(''Could not connect to the endpoint URL'')',
        'ClientError(''An error occurred (503) when calling the PutObject operation: SlowDown'')',
        'ReadTimeoutError(''Read timeout on endpoint URL'')'])[1 + id %% 3], 2 + id %% 5,
        %(now)s - interval '3 h', %(now)s - interval '20 min'
    FROM unnest(%(ids)s::bigint[]) AS id
"""


def archive_some(cursor: Any, courses: Sequence[Course], outlines: Sequence[Outline]) -> None:
    """Uploaded and read back, as the worker does it."""
    for outline in outlines:
        steps = steps_of(courses[outline.course], outline)
        packed = segment_format.pack_segment(steps, settings.ARCHIVE_COMPRESSION)
        first, last = steps[0].sequence, steps[-1].sequence
        key = archive.segment_key(outline.account_id, outline.digest, 1, first, last)
        archive.write(key, packed)
        cursor.execute(SEGMENT, {"key": key, "first": first, "last": last, **_written(outline, packed)})
    cursor.execute(MOVED)


def _written(outline: Outline, packed: Packed) -> dict[str, Any]:
    return {
        "number": outline.number,
        "count": len(packed.index),
        "stored": len(packed.body),
        "sha256": packed.sha256,
        "steps": segment_format.pack_index(packed.index),
    }


def steps_of(course: Course, outline: Outline) -> list[Step]:
    """What rows of history would hold of it, decoded."""
    found = []
    for row in course.rows:
        if row.step > outline.steps or row.ending != (outline.ending if row.step == outline.steps else "active"):
            continue
        at = outline.began_us + row.offset_us * outline.stretch // 100
        envelope, metadata, state = course.contents[row.step, row.ending]
        found.append(
            Step(
                generation=1, sequence=at, step=row.step, at=at, digest=row.digest.hex(), guard="",
                envelope=envelope, metadata=metadata, state=state,
            )
        )  # fmt: skip
    return found


def set_some_aside(cursor: Any, wanted: Wanted) -> None:
    """As if the storage had been away: due again in an hour, when it will be moved."""
    count = min(max(wanted.workflows // 1000, 3), 25)
    figures: dict[str, Any] = {"now": wanted.now, "again": wanted.now + timedelta(hours=1), "count": count}
    cursor.execute(DUE, figures)
    cursor.execute(PROBLEM, {**figures, "ids": [row[0] for row in cursor.fetchall()]})
