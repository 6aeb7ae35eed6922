"""The same figures straight from the events, one by one and without a database: what counting must come to."""

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from snapstate_project.events.catalogue import Body, CheckpointSaved, WorkflowErased, WorkflowResumed
from snapstate_project.events.models import Event
from tests.analytics.steps import erased, insert, resumed, saved


@dataclass
class Seen:
    """A workflow as its events tell of it."""

    name: str
    generation: int
    status: str = "active"
    steps: dict[int, tuple[datetime, CheckpointSaved]] = field(default_factory=dict)
    errors: list[tuple[datetime, CheckpointSaved]] = field(default_factory=list)
    resumes: Counter[date] = field(default_factory=Counter)


@dataclass
class Recount:
    workflows: dict[str, Seen] = field(default_factory=dict)
    days: defaultdict[date, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def hear(self, event: Event) -> None:
        body, day = event.body, event.at.astimezone(UTC).date()
        if isinstance(body, WorkflowErased):
            seen = self.workflows.get(body.digest)
            if seen and seen.generation < body.generation:
                del self.workflows[body.digest]
        elif isinstance(body, WorkflowResumed):
            self.days[day]["resumes"] += 1
            if body.digest in self.workflows:
                self.workflows[body.digest].resumes[day] += 1
        elif isinstance(body, CheckpointSaved):
            self.hear_save(event.at, day, body)

    def hear_save(self, at: datetime, day: date, body: CheckpointSaved) -> None:
        seen = self.workflows.get(body.digest)
        if seen is None or seen.generation < body.generation:
            seen = self.workflows[body.digest] = Seen(body.workflow_id, body.generation)
        seen.steps[body.step] = at, body
        seen.status = body.status if body.head_changed else seen.status
        self.days[day]["checkpoints"] += 1
        if body.error_type is not None or body.status == "failed":
            self.days[day]["failures"] += 1
            seen.errors.append((at, body))


def recount(account: Any) -> dict[str, list[tuple[Any, ...]]]:
    """As `steps.everything_of` tells it."""
    told = Recount()
    for event in Event.objects.filter(account_id=account.id, erased=False).order_by("id"):
        told.hear(event)
    return rows_of(account, told)


def rows_of(account: Any, told: Recount) -> dict[str, list[tuple[Any, ...]]]:
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in ("stats", "steps", "errors", "resumes", "parts")}
    by_day: Counter[Any] = Counter()
    for seen in told.workflows.values():
        name, times = (account.id, seen.name, seen.generation), [at for at, _ in seen.steps.values()]
        size = sum(body.size_bytes for _, body in seen.steps.values())
        rows["stats"].append((*name, seen.status, len(times), size, min(times), max(times)))
        rows["steps"] += [(name, step, at, b.size_bytes, b.agent_id, b.label) for step, (at, b) in seen.steps.items()]
        rows["errors"] += [(name, b.step, b.agent_id, b.error_type, b.error_message, at) for at, b in seen.errors]
        rows["resumes"] += [(name, *resumes) for resumes in seen.resumes.items()]
        rows["parts"] += parts_of(name, seen)
        by_day.update((at.astimezone(UTC).date(), body.agent_id) for at, body in seen.steps.values())
    steps: Counter[date] = Counter()
    for (day, _), number in by_day.items():
        steps[day] += number
    rows["days"] = [
        (account.id, day, c["checkpoints"], steps[day], c["resumes"], c["failures"]) for day, c in told.days.items()
    ]
    rows["agents"] = [(account.id, day, agent, number) for (day, agent), number in by_day.items() if agent]
    return {name: sorted(found, key=repr) for name, found in rows.items()}


def parts_of(name: Any, seen: Seen) -> list[tuple[Any, ...]]:
    steps: Counter[str] = Counter(body.agent_id for _, body in seen.steps.values() if body.agent_id)
    times: defaultdict[str, list[datetime]] = defaultdict(list)
    for at, body in [*seen.steps.values(), *seen.errors]:
        if body.agent_id:
            times[body.agent_id].append(at)
    return [(name, agent, steps[agent], min(found), max(found)) for agent, found in times.items()]


# --- A life at random ---


class Life:
    """What an account does: a few workflows, saved, replaced, resumed, failed and erased, as time goes on."""

    def __init__(self, account: Any, seed: int, *, began: datetime, minutes: float = 30) -> None:
        self.account, self.choose, self.at, self.minutes = account, random.Random(seed), began, minutes
        self.generations: Counter[str] = Counter()
        self.heads: dict[str, int] = {}
        self.late = 1_000  # below every head, each taken once
        self.events: list[tuple[UUID, datetime, Body, bool]] = []

    def go_on(self, events: int) -> None:
        for _ in range(events):
            self.at += timedelta(minutes=self.choose.random() * self.minutes)
            name = self.choose.choice(["a", "b/c", "研究", "d"])
            what = self.choose.random()
            if name in self.heads and what < 0.06:
                self.erase(name)
            elif name in self.heads and what < 0.2:
                self.note(resumed(self.account, name, generation=1 + self.generations[name]))
            else:
                self.save(name)
        insert(self.events)
        self.events = []

    def note(self, body: Body) -> None:
        self.events.append((self.account.id, self.at, body, False))

    def erase(self, name: str) -> None:
        self.generations[name] += 1
        del self.heads[name]
        self.note(erased(self.account, name, 1 + self.generations[name]))

    def save(self, name: str) -> None:
        head, choose = self.heads.get(name), self.choose
        step = 1_001 if head is None else choose.choice([head, head + 1, head + 2, head + 1])
        late = head is not None and choose.random() < 0.1
        self.late -= late
        failed = choose.random() < 0.2
        self.heads[name] = head if late and head else step
        body = saved(
            self.account, name, self.late if late else step,
            generation=1 + self.generations[name], size_bytes=choose.randrange(10_000),
            agent_id=choose.choice(["ada", "bob", None]), label=choose.choice([None, "l\x00\\0", "ü"]),
            status=choose.choice(["active", "active", "completed", "failed"]), replaced=step == head and not late,
            head_changed=not late, error_type="kind" if failed else None, error_message="m\x00" if failed else None,
        )  # fmt: skip
        self.note(body)
