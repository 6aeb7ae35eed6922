"""Erasing: Postgres first, so that nothing older can be believed again; then Redis, rows and objects, however late."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from checkpoints import archive, store
from checkpoints.archive import ArchiveDown
from checkpoints.errors import WorkflowNotFound
from checkpoints.ids import WorkflowKey
from checkpoints.models import ArchiveIntent, ArchiveSegment, Erasure, Workflow
from snapstate_project.common import acting, stopping
from snapstate_project.common.audit import record
from snapstate_project.common.errors import RedisDown
from snapstate_project.common.outages import is_postgres_outage
from snapstate_project.events.recording import record_event

log = structlog.get_logger(__name__)


def erase(key: WorkflowKey, hot_generation: int | None) -> Erasure:
    """Of Redis and rows. `hot_generation` is what Redis holds: 0 nothing, None when it could not be asked."""
    erasure = _promise(key, hot_generation)
    if hot_generation is None:
        raise RedisDown  # it is not waited for once more: the promise is kept by `finish_erasures`
    erase_hot_and_warm(erasure)
    return erasure


@transaction.atomic
def _promise(key: WorkflowKey, hot_generation: int | None) -> Erasure:
    """From this commit on no answer resting on an older generation is taken."""
    if hot_generation != 0:
        Workflow.objects.bulk_create([Workflow(account_id=key.account_id, digest=key.digest)], ignore_conflicts=True)
    rows = Workflow.objects.select_for_update(no_key=True)
    workflow = rows.filter(account_id=key.account_id, digest=key.digest).first()
    if workflow is None:
        raise WorkflowNotFound
    nothing_new = hot_generation is not None and hot_generation < workflow.generation
    if workflow.head_step is None and nothing_new:
        raise WorkflowNotFound
    return erase_row(workflow, max(workflow.generation, hot_generation or 0) + 1)


def erase_row(workflow: Workflow, generation: int) -> Erasure:
    """Blank a locked row, and promise the rest. The event comes last, as its lock must."""
    Workflow.objects.filter(pk=workflow.pk).update(**_blank(generation))
    if acting.current() is not None:  # an operator's; from here on it happens, whatever the operator is answered
        record(workflow, "Erased.")
    erasure = Erasure.objects.create(
        account_id=workflow.account_id, digest=bytes(workflow.digest), generation=generation
    )
    body = {"digest": bytes(workflow.digest).hex(), "generation": generation}
    # An older Postgres, restored, does not know of it; the log does (see erase_again).
    transaction.on_commit(lambda: log.info("workflow_erased", account=str(workflow.account_id), **body))
    record_event("workflow.erased", workflow.account_id, body)
    return erasure


def erase_again(account_id: UUID, digest: bytes, generation: int) -> bool:
    """What was erased up to a generation and is there again, because Postgres was restored; whether it was."""
    with transaction.atomic():
        older = Workflow.objects.filter(account_id=account_id, digest=digest, generation__lt=generation)
        workflow = older.select_for_update(no_key=True).first()
        if workflow is None:
            return False
        erasure = erase_row(workflow, generation)
    finish_erasure(erasure)
    return True


def _blank(generation: int) -> dict[str, object]:
    """The row of an erased workflow: no user text, only what must never start again."""
    kept = {"id", "account", "digest", "last_sequence", "version"}
    empty = Workflow(generation=generation, erased_at=timezone.now())
    return {field.name: getattr(empty, field.attname) for field in Workflow._meta.fields if field.name not in kept}


def finish_erasure(erasure: Erasure) -> None:
    """Redis, rows, then objects. Repeating it changes nothing; it touches only generations below the erasure's."""
    erase_hot_and_warm(erasure)
    with suppress(ArchiveDown):  # nothing of it can be read any more; its objects go with a later look
        erase_objects(erasure)


def erase_hot_and_warm(erasure: Erasure) -> None:
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


def erase_objects(erasure: Erasure) -> None:
    """The last of it: every object of older generations, of segments, of uploads under way, and whatever else is there.

    Raises ArchiveDown.
    """
    workflow = Workflow.objects.get(account_id=erasure.account_id, digest=erasure.digest)
    segments = ArchiveSegment.objects.filter(workflow=workflow, generation__lt=erasure.generation)
    intents = ArchiveIntent.objects.filter(workflow=workflow, generation__lt=erasure.generation)
    known = {*segments.values_list("key", flat=True), *intents.values_list("key", flat=True)}
    found = archive.keys_of(workflow.account_id, bytes(workflow.digest), below_generation=erasure.generation)
    archive.delete(sorted(known.union(found)))
    segments.delete()
    now = timezone.now()
    swept = now if erasure.created_at < now - timedelta(hours=1) else None
    Erasure.objects.filter(pk=erasure.pk).update(objects_erased_at=now, swept_at=swept)


def finish_erasures(limit: int = 1000) -> int:
    """Finish what an outage left undone, and look once more an hour after each erase. Returns how many it looked at.

    What fails of one holds back no other: it is raised when all had their turn.
    """
    hour_ago = timezone.now() - timedelta(hours=1)
    due = Erasure.objects.filter(Q(objects_erased_at=None) | Q(created_at__lt=hour_ago), swept_at=None)
    late = list(due.order_by(F("objects_erased_at").asc(nulls_first=True), "created_at")[:limit])
    failures: list[Exception] = []
    gone = _finish(erase_hot_and_warm, late, failures)  # all of these first: Redis waits for no slow archive
    with suppress(ArchiveDown):  # objects go with a later look
        _finish(erase_objects, gone, failures)
    if failures:
        raise failures[0]
    return len(late)


def _finish(part: Callable[[Erasure], None], late: list[Erasure], failures: list[Exception]) -> list[Erasure]:
    """Those of which that part is done. Only a tier that is away ends it, for it is away for the others too."""
    done: list[Erasure] = []
    for erasure in late:
        if stopping.has_begun():
            break
        try:
            part(erasure)
            done.append(erasure)
        except ArchiveDown:
            archive.look()  # or is it this one's objects alone?
        except RedisDown:
            raise
        except Exception as error:
            if is_postgres_outage(error):
                raise
            log.exception("erasure_not_finished", erasure=erasure.pk, digest=bytes(erasure.digest).hex())
            failures.append(error)
    return done
