"""Reading across the tiers: hot first, then warm, the highest sequence of each step. Writes nothing but the meter."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import msgspec

from checkpoints import history, store
from checkpoints.asking import settled
from checkpoints.content import Step, decode_envelope
from checkpoints.diff import Difference, difference
from checkpoints.errors import CheckpointNotFound, WorkflowNotFound
from checkpoints.ids import MAX_STEP, WorkflowKey, workflow_key
from checkpoints.verdicts import Head, Range, Tail
from snapstate_project.common.errors import ServiceUnavailable
from snapstate_project.common.threads import in_thread

PAGE_BYTES = 16 * 1_048_576


class Page(msgspec.Struct, frozen=True):
    """Steps of one workflow in the order asked for, and whether there are more in the range."""

    head: Head
    steps: list[Step]
    more: bool


async def page(key: WorkflowKey, wanted: Range, label: str | None = None) -> Page | None:
    """One page of steps from every tier, or None for a workflow that holds nothing."""
    first = wanted if label is None else msgspec.structs.replace(wanted, limit=2**31, room=2**31, metered=False)
    tail: Tail | None = await settled(key, lambda known: store.read(key, known, first))
    if tail is None:
        return None
    if tail.complete and label is None:
        return Page(tail.head, tail.steps, tail.more)
    held = [step for step in tail.steps if label is None or decode_envelope(step.envelope).label == label]
    colder: tuple[list[Step], bool] | None = ([], False)
    if not tail.complete:
        colder = await in_thread(_warm, key, tail.head.generation, wanted, label)
    if colder is None:
        return None
    found = merged((held, tail.more), colder, wanted)
    if wanted.metered:
        await store.note_replay(key, tail.head.generation, len(found[0]))
    return Page(tail.head, *found)


def _warm(key: WorkflowKey, generation: int, wanted: Range, label: str | None) -> tuple[list[Step], bool] | None:
    with history.snapshot():
        workflow = history.find(key)
        if workflow is None or workflow.generation < generation:
            return [], False
        if workflow.generation > generation:
            return None
        return history.steps_in(workflow, wanted, label)


def merged(hot: tuple[list[Step], bool], warm: tuple[list[Step], bool], wanted: Range) -> tuple[list[Step], bool]:
    """Both lists as one, in order. Where a list was cut, nothing behind its last step counts: it may have gaps."""
    sign = -1 if wanted.newest_first else 1
    newest: dict[int, Step] = {}
    for step in [*hot[0], *warm[0]]:
        if step.step not in newest or newest[step.step].sequence < step.sequence:
            newest[step.step] = step
    ends = [steps[-1].step * sign for steps, more in (hot, warm) if more and steps]
    ordered = [newest[number * sign] for number in sorted(step * sign for step in newest)]
    sure = [step for step in ordered if not ends or step.step * sign <= min(ends)]
    kept = list(_fitting(sure, wanted))
    return kept, len(kept) < len(ordered) or hot[1] or warm[1]


def _fitting(steps: Iterable[Step], wanted: Range) -> Iterable[Step]:
    room = wanted.room
    for count, step in enumerate(steps):
        if count >= wanted.limit or (count and len(step.state) > room):
            return
        room -= len(step.state)
        yield step


async def get_checkpoint(account_id: UUID, workflow_id: str, step: int) -> tuple[Head, Step, Difference]:
    """A checkpoint, the head of its workflow, and its diff against the checkpoint before it."""
    found = await page(workflow_key(account_id, workflow_id), Range(last=step, newest_first=True, limit=2))
    if found is None or not found.steps or found.steps[0].step != step:
        raise CheckpointNotFound
    return (
        found.head,
        found.steps[0],
        difference(found.steps[1].state if found.steps[1:] else b"{}", found.steps[0].state),
    )


async def previous_state(key: WorkflowKey, step: int) -> bytes | None:
    """The state before a step, `{}` before the first; None when the tier that holds it cannot be read."""
    if step == 0:
        return b"{}"
    try:
        found = await page(key, Range(last=step - 1, newest_first=True, limit=1))
    except ServiceUnavailable:
        return None
    return found.steps[0].state if found and found.steps else b"{}"


async def head_of(key: WorkflowKey) -> tuple[Head, Step]:
    found = await page(key, Range(newest_first=True, limit=1))
    if found is None or not found.steps:
        raise WorkflowNotFound
    return found.head, found.steps[0]


async def replay(key: WorkflowKey, wanted: Range, label: str | None) -> Page | None:
    return await page(key, msgspec.structs.replace(wanted, room=PAGE_BYTES, metered=True), label)


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
