"""A run of events summed up before a row is touched: pure bookkeeping, no I/O.

Totals, sizes and durations count the newest revision of each step; the days count every save and resume; a save that
tells of an error, or fails its workflow, is one failure.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from uuid import UUID

import msgspec

from snapstate_project.common.exact_text import escape_nul
from snapstate_project.events.catalogue import CheckpointSaved, WorkflowErased, WorkflowResumed
from snapstate_project.events.models import Event

type Key = tuple[UUID, str]
"""Account, and the workflow's digest in hex."""
type Counted = CheckpointSaved | WorkflowResumed | WorkflowErased
type Run = list[tuple[Event, Counted]]


# --- Rows, field for field as the statements take them; `stats_id` is known once the workflow has its row ---


class Stats(msgspec.Struct):
    account_id: UUID
    digest: str
    generation: int
    workflow_id: str
    status: str = "active"
    total_steps: int = 0
    total_size_bytes: int = 0
    first_checkpoint_at: datetime | None = None
    last_checkpoint_at: datetime | None = None
    id: int = 0


class StepRow(msgspec.Struct):
    step: int
    created_at: datetime
    size_bytes: int
    agent_id: str | None
    label: str | None = None
    stats_id: int = 0


class ErrorRow(msgspec.Struct):
    account_id: UUID
    step: int
    agent_id: str | None
    error_type: str | None
    error_message: str | None
    created_at: datetime
    stats_id: int = 0


class PartRow(msgspec.Struct):
    account_id: UUID
    agent_id: str
    first_at: datetime
    last_at: datetime
    steps: int = 0
    stats_id: int = 0


class ResumesRow(msgspec.Struct):
    day: date
    count: int = 0
    stats_id: int = 0


class DayRow(msgspec.Struct):
    account_id: UUID
    day: date
    checkpoints: int = 0
    steps: int = 0
    resumes: int = 0
    failures: int = 0


class AgentDayRow(msgspec.Struct):
    account_id: UUID
    day: date
    agent_id: str
    steps: int = 0


def runs(events: Iterable[Event]) -> Iterator[Run]:
    """The events that count, in order, cut where a workflow begins anew: within a run each has one generation."""
    run: Run = []
    generations: dict[Key, int] = {}
    for event in events:
        body = event.body
        if event.erased or not isinstance(body, CheckpointSaved | WorkflowResumed | WorkflowErased):
            continue
        key = event.account_id, body.digest
        if body.generation > generations.setdefault(key, body.generation):
            yield run
            run, generations = [], {key: body.generation}
        run.append((event, body))
    if run:
        yield run


def generations_in(run: Run) -> dict[Key, int]:
    found: dict[Key, int] = {}
    for event, body in run:
        found.setdefault((event.account_id, body.digest), body.generation)
    return found


@dataclass(slots=True)
class Tally:
    """`stats`: the rows there are, moved here; `replaced`: the revisions that saves of this run take the place of."""

    stats: dict[Key, Stats]
    replaced: Mapping[tuple[Key, int], StepRow] = field(default_factory=dict)
    saved: set[Key] = field(default_factory=set)
    recount: set[Key] = field(default_factory=set)
    steps: dict[tuple[Key, int], StepRow] = field(default_factory=dict)
    errors: list[tuple[Key, ErrorRow]] = field(default_factory=list)
    resumes: dict[tuple[Key, date], ResumesRow] = field(default_factory=dict)
    parts: dict[tuple[Key, str], PartRow] = field(default_factory=dict)
    days: dict[tuple[UUID, date], DayRow] = field(default_factory=dict)
    agent_days: dict[tuple[UUID, date, str], AgentDayRow] = field(default_factory=dict)

    def take_all(self, run: Run) -> None:
        for event, body in run:
            if isinstance(body, CheckpointSaved):
                self._save(event.account_id, event.at, body)
            elif isinstance(body, WorkflowResumed):
                self._resume(event.account_id, event.at, body)
        for (key, step), revision in self.steps.items():
            self._count(key, revision, 1)
            if old := self.replaced.get((key, step)):
                self._count(key, old, -1)
                self.recount.add(key)

    def _save(self, account_id: UUID, at: datetime, body: CheckpointSaved) -> None:
        key, today = (account_id, body.digest), self._day(account_id, day_of(at))
        failed = body.error_type is not None or body.status == "failed"
        today.checkpoints += 1
        today.failures += failed
        stats = self.stats.setdefault(key, Stats(account_id, body.digest, body.generation, body.workflow_id))
        if body.generation != stats.generation:
            return  # erased since: it has happened, and nothing of it is kept
        self.saved.add(key)
        self.steps[key, body.step] = StepRow(body.step, at, body.size_bytes, body.agent_id, exact(body.label))
        if body.head_changed:
            stats.status = body.status
        if failed:
            kind, message = exact(body.error_type), exact(body.error_message)
            self.errors.append((key, ErrorRow(account_id, body.step, body.agent_id, kind, message, at)))
            self._take_part(key, body.agent_id, at, 0)

    def _resume(self, account_id: UUID, at: datetime, body: WorkflowResumed) -> None:
        key, day = (account_id, body.digest), day_of(at)
        self._day(account_id, day).resumes += 1
        stats = self.stats.get(key)
        if stats is not None and stats.generation == body.generation:
            self.resumes.setdefault((key, day), ResumesRow(day)).count += 1

    def _count(self, key: Key, revision: StepRow, sign: int) -> None:
        stats, at = self.stats[key], revision.created_at
        stats.total_steps += sign
        stats.total_size_bytes += sign * revision.size_bytes
        stats.first_checkpoint_at = min(stats.first_checkpoint_at or at, at)
        stats.last_checkpoint_at = max(stats.last_checkpoint_at or at, at)
        self._take_part(key, revision.agent_id, at, sign)
        self.move_day(key[0], day_of(at), revision.agent_id, sign)

    def _take_part(self, key: Key, agent_id: str | None, at: datetime, steps: int) -> None:
        if agent_id is None:
            return
        part = self.parts.setdefault((key, agent_id), PartRow(key[0], agent_id, at, at))
        part.steps += steps
        part.first_at, part.last_at = min(part.first_at, at), max(part.last_at, at)

    def move_day(self, account_id: UUID, day: date, agent_id: str | None, steps: int) -> None:
        self._day(account_id, day).steps += steps
        if agent_id is not None:
            of_agent = self.agent_days.setdefault((account_id, day, agent_id), AgentDayRow(account_id, day, agent_id))
            of_agent.steps += steps

    def _day(self, account_id: UUID, day: date) -> DayRow:
        return self.days.setdefault((account_id, day), DayRow(account_id, day))


def exact(text: str | None) -> str | None:
    return escape_nul(text) if text else text


def day_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date()
