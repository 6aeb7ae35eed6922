"""A workflow's row while intake moves it: pure bookkeeping over the saves of a batch, no I/O."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.conf import settings

from checkpoints.content import Step, decode_envelope
from checkpoints.json_text import metadata_terms
from checkpoints.times import microseconds, moment


class Existing(NamedTuple):
    """A row of history that a save of this batch meets."""

    sequence: int
    size: int
    stored: int


class Settled(NamedTuple):
    """What Redis is told after the commit; `started` in microseconds."""

    generation: int
    last_sequence: int
    head_sequence: int
    total: int
    size: int
    started: int
    version: int


@dataclass(slots=True)
class Projection:
    """Field for field the row of checkpoints.models.Workflow; `new` holds the last revision of each step."""

    id: int
    account_id: UUID
    digest: bytes
    workflow_id: str
    generation: int
    last_sequence: int
    version: int
    saved_sequence: int
    archived_sequence: int
    dropped_sequence: int
    head_step: int | None
    head_sequence: int | None
    head_digest: bytes | None
    head_guard: str
    label: str | None
    agent_id: str | None
    status: str
    metadata: bytes | None
    metadata_terms: list[int]
    total_checkpoints: int
    size_bytes: int
    stored_bytes: int
    ttl_seconds: int | None
    pinned: bool
    keep_last: int | None
    started_at: datetime | None
    last_activity_at: datetime | None
    expires_at: datetime | None
    evict_at: datetime | None
    evicted_at: datetime | None
    moved: bool = False
    had_rows: bool = False
    found_at: int = 0
    new: dict[int, Step] = field(default_factory=dict)
    existing: dict[int, Existing] = field(default_factory=dict)

    def may_hold(self, step: Step) -> bool:
        """Whether Postgres may have a row of that step already."""
        return self.had_rows and self.generation == step.generation and step.step <= (self.head_step or 0)

    def take(self, step: Step, fields: dict[bytes, bytes]) -> str:
        """Move with one save: 'new' head, 'replaced' head or 'late' step below it."""
        if step.generation > self.generation:
            self._begin(step.generation)
        size, known = len(step.state), self._size_of(step.step)
        self.total_checkpoints += known is None
        self.size_bytes += size - (known or 0)
        self.new[step.step] = step
        self.moved, self.last_sequence, self.saved_sequence = True, step.sequence, step.sequence
        self.evict_at = self.evicted_at = None
        self.started_at = self.started_at or moment(step.at)
        self.last_activity_at = moment(step.at)
        self._live_until(fields)
        if self.head_step is not None and step.step < self.head_step:
            return "late"
        self._move_head(step)
        return "new" if known is None else "replaced"

    def _begin(self, generation: int) -> None:
        """The first save after an erase that Postgres does not know of, as after a restore from an older copy."""
        self.generation, self.total_checkpoints, self.size_bytes = generation, 0, 0
        self.archived_sequence = self.dropped_sequence = 0
        self.head_step, self.started_at = None, None
        self.new, self.existing = {}, {}

    def _size_of(self, step: int) -> int | None:
        if step in self.new:
            return len(self.new[step].state)
        return self.existing[step].size if step in self.existing else None

    def _move_head(self, step: Step) -> None:
        envelope = decode_envelope(step.envelope)
        self.head_step, self.head_sequence = step.step, step.sequence
        self.head_digest, self.head_guard = bytes.fromhex(step.digest), step.guard
        self.label, self.agent_id, self.status = envelope.label, envelope.agent_id, envelope.status
        if (step.metadata or None) != self.metadata:
            self.metadata, self.metadata_terms = step.metadata or None, metadata_terms(step.metadata or None)

    def patch(self, fields: dict[bytes, bytes]) -> None:
        """Move with one PATCH, unless it is of another generation or taken already."""
        generation, sequence = int(fields[b"g"]), int(fields[b"q"])
        if generation != self.generation or sequence <= self.last_sequence:
            return
        self.moved, self.last_sequence = True, sequence
        self.pinned = fields[b"p"] == b"1"
        self.keep_last = int(fields[b"k"]) if fields[b"k"] else None
        self._live_until(fields)
        if self.is_archived:
            self.evict_at = self.expires_at  # pinned, it is passed over

    @property
    def is_archived(self) -> bool:
        """Whether every save is in a segment."""
        return self.archived_sequence >= self.saved_sequence > 0

    def _live_until(self, fields: dict[bytes, bytes]) -> None:
        self.ttl_seconds = int(fields[b"l"]) if fields[b"l"] else None
        self.expires_at = moment(int(fields[b"x"]))

    @property
    def archive_at(self) -> datetime | None:
        """When it is due for the archive: a while before it expires, never while pinned."""
        if self.pinned or self.expires_at is None or self.is_archived:
            return None
        ttl = settings.DEFAULT_TTL_SECONDS if self.ttl_seconds is None else self.ttl_seconds
        return self.expires_at - timedelta(seconds=min(settings.ARCHIVE_THRESHOLD_SECONDS, ttl / 2))

    def settled(self) -> Settled:
        started = microseconds(self.started_at) if self.started_at else 0
        return Settled(
            generation=self.generation,
            last_sequence=self.last_sequence,
            head_sequence=self.head_sequence or 0,
            total=self.total_checkpoints,
            size=self.size_bytes,
            started=started,
            version=self.version,
        )
