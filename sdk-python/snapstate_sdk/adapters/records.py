"""Steps of a workflow as records: appended under a guard or to a free slot, and found again by label, step or range."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from snapstate_sdk.adapters.calling import Plan, ask
from snapstate_sdk.adapters.places import Head, Place, Remembered, Slots, head_of, summary_of
from snapstate_sdk.calls import of_checkpoints, of_workflows
from snapstate_sdk.errors import ConflictError, NotFoundError
from snapstate_sdk.models import Checkpoint, SaveResult

TRIES = 100  # of racing writers one wins each round, so this many may race
PAGE = 1000
LONGEST_LABEL = 256


@dataclass(frozen=True)
class Records:
    """`options` go with every save. What is remembered of heads and slots saves calls and decides nothing."""

    options: dict[str, Any]
    heads: Remembered[Head] = field(default_factory=Remembered)
    slots: Slots = field(default_factory=Slots)

    def save(self, workflow: str, step: int, **arguments: Any) -> Plan[SaveResult]:
        return (yield from ask(of_checkpoints.save(workflow, step, **arguments, **self.options, diff=False)))

    def append(self, place: Place, workflow: str, **content: Any) -> Plan[None]:
        """To the next free step, whoever else appends. The same content at the same step counts once."""
        step = self.slots.take(workflow)
        for _ in range(TRIES):
            if step is None:
                step = yield from self._free_step(place, workflow)
            try:
                yield from self.save(workflow, step, **content)
            except ConflictError:
                step = None
            else:
                return
        raise ConflictError(f"{workflow}: others took the next step {TRIES} times")

    def _free_step(self, place: Place, workflow: str) -> Plan[int]:
        summary = yield from summary_of(workflow)
        if summary is None and workflow != place.namespaces:
            yield from self.register(place)
        return self.slots.take_from(workflow, 0 if summary is None else summary.latest_step + 1)

    def register(self, place: Place) -> Plan[None]:
        """Before a namespace's workflows begin, so that who looks through a thread misses none; the root is known."""
        if place.namespace:
            metadata = {"kind": "langgraph.namespaces", "thread_id": place.thread_id}
            state = {"checkpoint_ns": place.namespace}
            yield from self.append(place, place.namespaces, state=state, metadata=metadata)

    def head(self, workflow: str) -> Plan[Head | None]:
        known = self.heads.get(workflow)
        return known if known is not None else (yield from head_of(workflow))

    def erase(self, workflow: str) -> Plan[None]:
        self.heads.forget(workflow)
        self.slots.forget(workflow)
        try:
            yield from ask(of_workflows.erase(workflow))
        except NotFoundError:
            return


def replay(workflow: str, **wanted: Any) -> Plan[list[Checkpoint]]:
    """Every page of it, in step order."""
    found: list[Checkpoint] = []
    cursor: str | None = None
    while True:
        page = yield from ask(of_workflows.replay(workflow, limit=PAGE, cursor=cursor, **wanted))
        found += page.checkpoints
        cursor = page.next_cursor
        if cursor is None:
            return found


def outline(workflow: str, first: int = 0) -> Plan[list[Checkpoint]]:
    """All of it but the states."""
    return (yield from replay(workflow, from_step=first, include_state=False))


def index(workflow: str, first: int = 0) -> Plan[dict[str, list[int]]]:
    """Which steps bear which label."""
    steps: dict[str, list[int]] = {}
    for record in (yield from outline(workflow, first)):
        steps.setdefault(record.label or "", []).append(record.step)
    return steps


def at_steps(workflow: str, steps: Iterable[int]) -> Plan[dict[int, Checkpoint]]:
    wanted = set(steps)
    if not wanted:
        return {}
    found = yield from replay(workflow, from_step=min(wanted), to_step=max(wanted))
    return {record.step: record for record in found if record.step in wanted}


def label_of(checkpoint_id: str) -> str:
    """They are UUIDs; for what is longer than a label can be a hash stands."""
    return checkpoint_id if len(checkpoint_id) <= LONGEST_LABEL else sha256(checkpoint_id.encode()).hexdigest()
