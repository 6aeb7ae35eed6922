"""Reading across the tiers: hot first, then warm, the highest sequence of each step. Writes nothing but the meter."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import msgspec

from checkpoints import history, segments, store
from checkpoints.asking import Cold, Waking, settled
from checkpoints.content import Step, decode_envelope
from checkpoints.diff import difference
from checkpoints.errors import CheckpointNotFound, WorkflowNotFound
from checkpoints.ids import MAX_STEP, WorkflowKey, workflow_key
from checkpoints.models import Workflow
from checkpoints.segments import Place
from checkpoints.verdicts import Head, Range, Tail
from snapstate_project.common.errors import ServiceUnavailable
from snapstate_project.common.metrics import Counter
from snapstate_project.common.threads import in_thread

PAGE_BYTES = 16 * 1_048_576
NEWEST = Range(newest_first=True, limit=1)

tier_hits = Counter("snapstate_tier_hits", "Answered reads, by the coldest tier they needed.", ("read", "tier"))


class Page(msgspec.Struct, frozen=True):
    """Steps of one workflow in the order asked for, and whether there are more in the range."""

    head: Head
    steps: list[Step]
    more: bool


class Colder(msgspec.Struct, frozen=True):
    """What Postgres holds of a range, and where in the archive the rest of it stands."""

    steps: list[Step] = []
    more: bool = False
    places: list[Place] = []


async def page(key: WorkflowKey, wanted: Range, label: str | None = None) -> Page | None:
    """One page of steps from every tier, or None for a workflow that holds nothing."""
    first = wanted if label is None else msgspec.structs.replace(wanted, limit=2**31, room=2**31, metered=False)
    tail = await settled(key, lambda known: store.read(key, known, first), waking=Waking.LEAVE)
    if tail is None:
        return None
    if isinstance(tail, Cold):
        tail = Tail(history.head_of(tail.workflow), [], False, False)
    elif label is None and (tail.complete or has_no_gap(tail, wanted)):
        tier_hits.count("page", "hot")
        if wanted.metered and not tail.complete:
            await store.note_replay(key, tail.head.generation, len(tail.steps))
        return Page(tail.head, tail.steps, tail.more)
    held = [step for step in tail.steps if label is None or decode_envelope(step.envelope).label == label]
    colder = Colder() if tail.complete else await in_thread(_colder, key, tail, wanted, label)
    if colder is None:
        return None
    found, more = merged((held, tail.more), colder, wanted)
    archived = any(isinstance(item, Place) for item in found)
    steps = await _fetched(found) if archived else found
    tier_hits.count("page", "archive" if archived else "hot" if tail.complete else "warm")
    if wanted.metered:
        await store.note_replay(key, tail.head.generation, len(steps))
    return Page(tail.head, steps, more)  # type: ignore[arg-type]


def has_no_gap(tail: Tail, wanted: Range) -> bool:
    """Whether each step follows upon the one before, from where the range begins: nothing colder stands between."""
    first, last = wanted.first, min(wanted.last, tail.head.step)
    begin, end, by = (last, first, -1) if wanted.newest_first else (first, last, 1)
    steps = [step.step for step in tail.steps]
    if not steps or steps != list(range(begin, begin + by * len(steps), by)):
        return False
    return tail.more or steps[-1] == end or (wanted.newest_first and len(steps) == wanted.limit)


def _colder(key: WorkflowKey, tail: Tail, wanted: Range, label: str | None) -> Colder | None:
    """With a label, a step that a warmer tier holds is left out: its newer revision may have another one."""
    generation, hot = tail.head.generation, [step.step for step in tail.steps]
    with history.snapshot():
        workflow = history.find(key)
        if workflow is None or workflow.generation < generation:
            return Colder()
        if workflow.generation > generation:
            return None
        steps, more = history.steps_in(workflow, wanted, label, without=hot if label is not None else [])
        archived = segments.places(workflow.pk, generation, wanted, label) if workflow.dropped_sequence else []
        if label is not None and archived:
            warmer = {*hot, *history.held_steps(workflow, [place.step for place in archived])}
            archived = [place for place in archived if place.step not in warmer]
        return Colder(steps, more, archived)


async def _fetched(found: list[Step | Place]) -> list[Step]:
    archived = iter(await segments.fetch([item for item in found if isinstance(item, Place)]))
    return [item if isinstance(item, Step) else next(archived) for item in found]


def merged(hot: tuple[list[Step], bool], colder: Colder, wanted: Range) -> tuple[list[Step | Place], bool]:
    """All tiers as one, in order. Where a list was cut, nothing behind its last step counts: it may have gaps."""
    sign = -1 if wanted.newest_first else 1
    newest: dict[int, Step | Place] = {}
    everything: list[Step | Place] = [*hot[0], *colder.steps, *colder.places]
    for item in everything:
        if item.step not in newest or newest[item.step].sequence < item.sequence:
            newest[item.step] = item
    cut = [steps[-1].step * sign for steps, more in (hot, (colder.steps, colder.more)) if more and steps]
    ordered = [newest[number * sign] for number in sorted(step * sign for step in newest)]
    sure = [item for item in ordered if not cut or item.step * sign <= min(cut)]
    kept = list(_fitting(sure, wanted))
    return kept, len(kept) < len(ordered) or hot[1] or colder.more


def _fitting(items: Iterable[Step | Place], wanted: Range) -> Iterable[Step | Place]:
    room = wanted.room
    for count, item in enumerate(items):
        if count >= wanted.limit or (count and item.weight > room):
            return
        room -= item.weight
        yield item


async def get_checkpoint(account_id: UUID, workflow_id: str, step: int) -> tuple[Head, Step]:
    """A checkpoint, and the head of its workflow."""
    found = await page(workflow_key(account_id, workflow_id), Range(first=step, last=step, limit=1))
    if found is None or not found.steps:
        raise CheckpointNotFound
    return found.head, found.steps[0]


async def previous_state(key: WorkflowKey, step: int) -> bytes | None:
    """The state before a step, `{}` before the first; None when the tier that holds it cannot be read."""
    if step == 0:
        return b"{}"
    try:
        found = await page(key, Range(last=step - 1, newest_first=True, limit=1))
    except ServiceUnavailable:
        return None
    return found.steps[0].state if found and found.steps else b"{}"


async def head_of(key: WorkflowKey) -> tuple[Head, Step] | Workflow:
    """The head and its step; of a workflow that is in the archive only, its row, which says as much."""
    tail = await settled(key, lambda known: store.read(key, known, NEWEST), waking=Waking.LEAVE)
    if isinstance(tail, Cold):
        return tail.workflow
    if tail is not None and tail.steps and tail.steps[0].sequence == tail.head.sequence:
        return tail.head, tail.steps[0]
    if tail is not None and (step := await in_thread(history.head_without_state, key, tail.head)):
        return tail.head, step
    return await newest(key)


async def replay(key: WorkflowKey, wanted: Range, label: str | None) -> Page | None:
    return await page(key, msgspec.structs.replace(wanted, room=PAGE_BYTES), label)


async def newest(key: WorkflowKey) -> tuple[Head, Step]:
    """What a resume would answer, for those who do not resume."""
    found = await page(key, NEWEST)
    if found is None or not found.steps:
        raise WorkflowNotFound
    return found.head, found.steps[0]


async def compare_steps(key: WorkflowKey, from_step: int | None, to_step: int | None) -> dict[str, Any]:
    """The diff between two steps; by default between the newest and the one before it."""
    newest = await page(key, Range(last=MAX_STEP if to_step is None else to_step, newest_first=True, limit=2))
    if newest is None or not newest.steps or (to_step is not None and newest.steps[0].step != to_step):
        raise WorkflowNotFound if newest is None else CheckpointNotFound
    after = newest.steps[0]
    before = newest.steps[1] if newest.steps[1:] else None
    if from_step is not None:
        before = await _exactly(key, from_step)
    changes = difference(before.state if before else b"{}", after.state)
    return {"from_step": before.step if before else None, "to_step": after.step, "diff": changes}


async def _exactly(key: WorkflowKey, step: int) -> Step:
    found = await page(key, Range(first=step, last=step, limit=1))
    if found is None or not found.steps:
        raise CheckpointNotFound
    return found.steps[0]
