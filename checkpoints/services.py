"""What happens to a workflow: save, resume, patch, erase. The rules of a save live in its script."""

import asyncio
from contextlib import suppress
from uuid import UUID

import msgspec
from django.conf import settings
from django.db.models import Sum

from checkpoints import archive, erasing, reads, store
from checkpoints.asking import Waking, settled
from checkpoints.content import Step
from checkpoints.diff import Difference, Members, difference, difference_of
from checkpoints.envelope import NewCheckpoint, WorkflowChanges
from checkpoints.errors import SaveConflict, WorkflowNotFound
from checkpoints.ids import WorkflowKey, checkpoint_id, workflow_key
from checkpoints.models import Workflow
from checkpoints.recent import RecentStates, Revision, worth_keeping
from checkpoints.verdicts import Busy, Head, Range, Refused, Replayed, Resumed, Saved
from snapstate_project.common.errors import RedisDown, ServiceUnavailable
from snapstate_project.common.threads import in_thread

DIFF_WITHIN_SECONDS = 2.0

recent = RecentStates()
going_on: set[asyncio.Task[bytes | None]] = set()
encode = msgspec.json.Encoder().encode


class SaveOutcome(msgspec.Struct, frozen=True):
    """`at` in microseconds; `diff` None when the state before could not be read or was not asked for."""

    etag: str
    at: int
    size: int
    replayed: bool
    diff: Difference | msgspec.Raw | None


async def save_checkpoint(account_id: UUID, new: NewCheckpoint) -> SaveOutcome:
    """Save one step, or give the first answer again when it is saved already. Raises SaveConflict."""
    key = workflow_key(account_id, new.workflow_id)
    guess = Guess(key, new)
    verdict = await settled(
        key, lambda known: store.save(key, new, known, settings.DEFAULT_TTL_SECONDS, guess), waking=Waking.HEAD, new=new
    )
    if isinstance(verdict, Saved):
        if verdict.how != "late":
            recent.put(key, Revision(verdict.generation, verdict.sequence, new.state, guess.members))
        diff = guess.diff if verdict.how == "next" else await _diff(key, new, verdict)
        if verdict.pace:  # it is saved; the answer waits, so that intake catches up before anybody has to be refused
            await asyncio.sleep(verdict.pace / 1_000_000)
        return SaveOutcome(verdict.etag, verdict.at, len(new.state), False, diff)
    if isinstance(verdict, Replayed):
        return SaveOutcome(verdict.etag, verdict.at, verdict.size, True, await _diff_before(key, new))
    if isinstance(verdict, Busy):
        raise ServiceUnavailable("Saves are coming faster than they can be made durable; try again.", retry_after=2)
    if isinstance(verdict, Refused):
        raise _conflict(new, verdict)
    raise ServiceUnavailable


class Guess:
    """That the head is what this process saved last; the diff that follows is made, and written, while Redis works."""

    def __init__(self, key: WorkflowKey, new: NewCheckpoint) -> None:
        self.before = recent.get(key) if new.wants_diff else None
        self.new = new
        self.members: Members | None = None
        self.diff: msgspec.Raw | None = None

    @property
    def head(self) -> str:
        return self.before.name if self.before else ""

    def work_out(self) -> None:
        if self.before and self.diff is None:
            after = Members(self.new.state)
            before = self.before.members or Members(self.before.state)
            self.diff = msgspec.Raw(encode(difference_of(before, after)))
            self.members = worth_keeping(after, self.new.state)


async def _diff(key: WorkflowKey, new: NewCheckpoint, saved: Saved) -> Difference | None:
    if saved.how == "append" and new.wants_diff:
        return difference(saved.previous or b"{}", new.state)
    return await _diff_before(key, new)


async def _diff_before(key: WorkflowKey, new: NewCheckpoint) -> Difference | None:
    """It is saved: the answer does not wait long for a tier that hangs. The read goes on, and so finds that out."""
    if not new.wants_diff:
        return None
    reading = asyncio.create_task(reads.previous_state(key, new.step))
    going_on.add(reading)
    reading.add_done_callback(going_on.discard)
    await asyncio.wait([reading], timeout=DIFF_WITHIN_SECONDS)
    before = reading.result() if reading.done() else None
    return None if before is None else difference(before, new.state)


def _conflict(new: NewCheckpoint, refused: Refused) -> SaveConflict:
    existing = None
    if refused.etag is not None and refused.step is not None:
        existing = {"checkpoint_id": checkpoint_id(new.workflow_id, refused.step), "etag": f'"{refused.etag}"'}
    if refused.why == "guard":
        return SaveConflict("The workflow's head is not what the request's guard names.", existing)
    if existing is None:
        return SaveConflict(f"Step {new.step} is below the head: what has a guard can only follow it.", None)
    return SaveConflict(
        f"Step {new.step} holds other contents already. Save them as a later step; only the newest step can be "
        "replaced, by a save with its etag in If-Match.",
        existing,
    )


async def resume_workflow(account_id: UUID, workflow_id: str, agent_id: str | None) -> tuple[Head, Step, str]:
    """The head of a workflow, its newest step, and the tier they came from."""
    key = workflow_key(account_id, workflow_id)
    resumed = await settled(key, lambda known: store.resume(key, known, agent_id), waking=Waking.STATE)
    if not isinstance(resumed, Resumed):
        raise WorkflowNotFound
    if resumed.step is not None:
        reads.tier_hits.count("resume", resumed.source)
        return resumed.head, resumed.step, resumed.source
    found = await reads.page(key, Range(first=resumed.head.step, last=resumed.head.step, limit=1))
    if found is None or not found.steps or found.steps[0].sequence != resumed.head.sequence:
        raise ServiceUnavailable("The head of this workflow cannot be read at the moment; try again.")
    await store.note_resume(key, resumed.head, agent_id, "archive")
    reads.tier_hits.count("resume", "archive")
    return resumed.head, found.steps[0], "archive"


async def patch_workflow(key: WorkflowKey, changes: WorkflowChanges) -> None:
    def word(value: int | msgspec.UnsetType | None) -> str:
        return "" if value is msgspec.UNSET else "-" if value is None else str(int(value))

    ttl, pinned, keep = map(word, (changes.ttl_seconds, changes.pinned, changes.keep_last))
    patched = await settled(
        key,
        lambda known: store.patch(
            key, known, ttl=ttl, pinned=pinned, keep_last=keep, default_ttl=settings.DEFAULT_TTL_SECONDS
        ),
        waking=Waking.HEAD,
    )
    if not patched:
        raise WorkflowNotFound


async def erase_workflow(account_id: UUID, workflow_id: str) -> None:
    """Erase in every tier. When Redis is down the promise is kept all the same, later; the caller hears 503."""
    key = workflow_key(account_id, workflow_id)
    recent.forget(key)
    try:
        hot_generation: int | None = await store.generation_of(key)
    except RedisDown:
        hot_generation = None
    erasure = await in_thread(erasing.erase, key, hot_generation)
    with suppress(ServiceUnavailable):  # nothing of it can be read any more; its objects go with a later look
        await archive.threads.run(erasing.erase_objects, erasure)


def storage_held_bytes(account_id: UUID) -> int:
    """Bytes of history held for an account, compressed."""
    return Workflow.objects.filter(account_id=account_id).aggregate(held=Sum("stored_bytes"))["held"] or 0


def storage_held_by_account() -> dict[UUID, int]:
    """The same of every account that holds any, in one query."""
    held = Workflow.objects.filter(stored_bytes__gt=0).order_by().values_list("account_id")
    return dict(held.annotate(held=Sum("stored_bytes")))
