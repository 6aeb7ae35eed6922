"""Courses encoded once: every workflow of the demo is the beginning of one, so Postgres can multiply them by itself.

What a row of history holds depends on its workflow only by its times: contents, digests and deltas are the same.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from checkpoints import codec
from checkpoints.content import Envelope, Status, StepError, digest, encode_envelope, pack
from checkpoints.json_text import metadata_terms
from snapstate_project.demo.shapes import Moment, Work, course, metadata_of

ENDINGS: tuple[Status, ...] = ("active", "completed", "failed")


class Encoded(NamedTuple):
    """A step of a course, as its rows hold it. Offsets in microseconds since the course began.

    `ending` is the status it was saved with: a step that ends its workflow has another envelope than one that goes on.
    `sized` and `stored` are the sums up to here, of states as sent and of history as kept.
    """

    course: int
    step: int
    ending: str
    offset_us: int
    anchor_us: int
    base_us: int | None
    size: int
    sized: int
    stored: int
    digest: bytes
    agent: str
    label: str
    error_type: str | None
    error_message: str | None
    body: bytes


class Content(NamedTuple):
    """What is packed into a segment, and hashed."""

    envelope: bytes
    metadata: bytes
    state: bytes


class Course:
    """One run with all its rows."""

    def __init__(self, number: int, seed: int) -> None:
        self.number = number
        self.work: Work
        self.work, self.moments = course(seed)
        self.metadata = msgspec.json.encode(metadata_of(self.work, seed))
        self.terms = metadata_terms(self.metadata)
        self.contents: dict[tuple[int, str], Content] = {}
        self.rows = list(self._rows())

    def offset_us(self, step: int) -> int:
        """When a step was saved, counted from the course's beginning."""
        return self.rows[(step - 1) * len(ENDINGS)].offset_us

    def _rows(self) -> Iterator[Encoded]:
        at = anchor = sized = stored = 0
        before: tuple[int, bytes] | None = None
        for step, moment in enumerate(self.moments, 1):
            at += moment.gap * 1000
            if (step - 1) % codec.FULL_EVERY == 0:
                before, anchor = None, at
            state = msgspec.json.encode(moment.state)
            sized += len(state)
            bodies: dict[str, int] = {}
            for ending in ENDINGS:
                row = self._row(step, ending, moment, state, before)
                bodies[ending] = len(row["body"])
                base = before[0] if before else None
                yield Encoded(
                    **row, offset_us=at, anchor_us=anchor, base_us=base, sized=sized, stored=stored + bodies[ending]
                )
            stored += bodies["active"]
            before = at, pack(*self.contents[step, "active"])

    def _row(
        self, step: int, ending: Status, moment: Moment, state: bytes, before: tuple[int, bytes] | None
    ) -> dict[str, Any]:
        trouble = moment.trouble or (self.work.troubles[step % 2] if ending == "failed" else None)
        error = StepError(*trouble) if trouble else None
        envelope = encode_envelope(Envelope(moment.label, moment.agent, ending, error))
        content = self.contents[step, ending] = Content(envelope, self.metadata, state)
        return {
            "course": self.number,
            "step": step,
            "ending": ending,
            "size": len(state),
            "digest": bytes.fromhex(digest(*content)),
            "agent": moment.agent,
            "label": moment.label,
            "error_type": error.type if error else None,
            "error_message": error.message if error else None,
            "body": codec.encode(pack(*content), before[1] if before else None),
        }


def make_courses(count: int, seed: int) -> list[Course]:
    return [Course(number, seed * 100_000 + number) for number in range(count)]
