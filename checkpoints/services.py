"""What happens to a workflow: save, resume, patch, erase. The rules of a save live in its script."""

import logging
from datetime import timedelta
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Sum
from django.utils import timezone

from checkpoints import archiving, reads, store
from checkpoints.archive import ArchiveDown
from checkpoints.asking import Waking, settled
from checkpoints.content import Step
from checkpoints.diff import Difference, difference
from checkpoints.envelope import NewCheckpoint, WorkflowChanges
from checkpoints.errors import SaveConflict, WorkflowNotFound
from checkpoints.ids import WorkflowKey, checkpoint_id, workflow_key
from checkpoints.models import Erasure, Workflow
from checkpoints.verdicts import Busy, Head, Range, Refused, Replayed, Resumed, Saved
from snapstate_project.common.errors import RedisDown, ServiceUnavailable
from snapstate_project.common.threads import in_thread
from snapstate_project.events.relay import record_event

logger = logging.getLogger(__name__)


class SaveOutcome(msgspec.Struct, frozen=True):
    """`at` in microseconds; `diff` None when the state before could not be read or was not asked for."""

    etag: str
    at: int
    size: int
    replayed: bool
    diff: Difference | None


async def save_checkpoint(account_id: UUID, new: NewCheckpoint) -> SaveOutcome:
    """Save one step, or give the first answer again when it is saved already. Raises SaveConflict."""
    key = workflow_key(account_id, new.workflow_id)
    verdict = await settled(
        key, lambda known: store.save(key, new, known, settings.DEFAULT_TTL_SECONDS), waking=Waking.HEAD, new=new
    )
    if isinstance(verdict, Saved):
        return SaveOutcome(verdict.etag, verdict.at, len(new.state), False, await _diff(key, new, verdict))
    if isinstance(verdict, Replayed):
        return SaveOutcome(verdict.etag, verdict.at, verdict.size, True, await _diff_before(key, new))
    if isinstance(verdict, Busy):
        raise ServiceUnavailable("Saves are coming faster than they can be made durable; try again.", retry_after=2)
    if isinstance(verdict, Refused):
        raise _conflict(new, verdict)
    raise ServiceUnavailable


async def _diff(key: WorkflowKey, new: NewCheckpoint, saved: Saved) -> Difference | None:
    if saved.how == "append" and new.wants_diff:
        return difference(saved.previous or b"{}", new.state)
    return await _diff_before(key, new)


async def _diff_before(key: WorkflowKey, new: NewCheckpoint) -> Difference | None:
    before = await reads.previous_state(key, new.step) if new.wants_diff else None
    return None if before is None else difference(before, new.state)


def _conflict(new: NewCheckpoint, refused: Refused) -> SaveConflict:
    existing = None
    if refused.etag is not None and refused.step is not None:
        existing = {"checkpoint_id": checkpoint_id(new.workflow_id, refused.step), "etag": f'"{refused.etag}"'}
    if refused.why == "guard":
        return SaveConflict("The workflow's head is not what the request's guard names.", existing)
    return SaveConflict(f"Step {new.step} cannot be saved with this content.", existing)


async def resume_workflow(account_id: UUID, workflow_id: str, agent_id: str | None) -> tuple[Head, Step, str]:
    """The head of a workflow, its newest step, and the tier they came from."""
    key = workflow_key(account_id, workflow_id)
    resumed = await settled(key, lambda known: store.resume(key, known, agent_id), waking=Waking.STATE)
    if not isinstance(resumed, Resumed):
        raise WorkflowNotFound
    if resumed.step is not None:
        return resumed.head, resumed.step, resumed.source
    found = await reads.page(key, Range(first=resumed.head.step, last=resumed.head.step, limit=1))
    if found is None or not found.steps or found.steps[0].sequence != resumed.head.sequence:
        raise ServiceUnavailable("The head of this workflow cannot be read at the moment; try again.")
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
    try:
        hot_generation: int | None = await store.generation_of(key)
    except RedisDown:
        hot_generation = None
    await in_thread(_erase, key, hot_generation)


def _erase(key: WorkflowKey, hot_generation: int | None) -> None:
    finish_erasure(_promise_erasure(key, hot_generation))


@transaction.atomic
def _promise_erasure(key: WorkflowKey, hot_generation: int | None) -> Erasure:
    """Postgres first: from this commit on no answer resting on an older generation is taken."""
    if hot_generation != 0:
        Workflow.objects.bulk_create([Workflow(account_id=key.account_id, digest=key.digest)], ignore_conflicts=True)
    rows = Workflow.objects.select_for_update().filter(account_id=key.account_id, digest=key.digest)
    workflow = rows.first()
    if workflow is None or (
        workflow.head_step is None and (hot_generation or 0) < workflow.generation and hot_generation is not None
    ):
        raise WorkflowNotFound
    generation = max(workflow.generation, hot_generation or 0) + 1
    rows.update(**_blank(generation))
    erasure = Erasure.objects.create(account_id=key.account_id, digest=key.digest, generation=generation)
    record_event("workflow.erased", key.account_id, {"digest": key.digest.hex(), "generation": generation})
    return erasure


def _blank(generation: int) -> dict[str, object]:
    """The row of an erased workflow: no user text, only what must never start again."""
    kept = {"id", "account", "digest", "last_sequence"}
    empty = Workflow(generation=generation, erased_at=timezone.now())
    return {field.name: getattr(empty, field.attname) for field in Workflow._meta.fields if field.name not in kept}


def finish_erasure(erasure: Erasure) -> None:
    """Redis, rows, then objects. Repeating it changes nothing; it touches only generations below the erasure's."""
    workflow = Workflow.objects.get(account_id=erasure.account_id, digest=erasure.digest)
    store.erase(erasure.account_id.hex, bytes(erasure.digest), erasure.generation, workflow.last_sequence)
    with transaction.atomic(), connection.cursor() as cursor:
        Workflow.objects.select_for_update(no_key=True).get(pk=workflow.pk)
        cursor.execute(
            "DELETE FROM checkpoints_checkpoint WHERE workflow_id = %s AND generation < %s",
            [workflow.pk, erasure.generation],
        )
    now = timezone.now()
    Erasure.objects.filter(pk=erasure.pk).update(hot_erased_at=now, rows_erased_at=now)
    try:
        archiving.erase_objects(workflow, erasure.generation)
    except ArchiveDown:
        return  # the promise stands: nothing of it can be read, and the objects go with a later look
    swept = now if erasure.created_at < now - timedelta(hours=1) else None
    Erasure.objects.filter(pk=erasure.pk).update(objects_erased_at=now, swept_at=swept)


def finish_erasures(limit: int = 1000) -> int:
    """Finish what an outage left undone, and look once more an hour after each erase. Returns how many it looked at."""
    due = Erasure.objects.filter(swept_at__isnull=True).order_by("created_at")
    late = [e for e in due[:limit] if e.objects_erased_at is None or e.created_at < timezone.now() - timedelta(hours=1)]
    for erasure in late:
        finish_erasure(erasure)
    return len(late)


def storage_held_bytes(account_id: UUID) -> int:
    """Bytes of history held for an account, compressed."""
    return Workflow.objects.filter(account_id=account_id).aggregate(held=Sum("stored_bytes"))["held"] or 0
