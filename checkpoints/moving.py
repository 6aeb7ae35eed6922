"""What operators have moved at once: a workflow into the archive before its time, or out of it again."""

from asgiref.sync import async_to_sync
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from checkpoints import archiving, store
from checkpoints.archiving import Claim, Pass
from checkpoints.asking import Cold, Waking, settled
from checkpoints.errors import NotMoved, WorkflowNotFound
from checkpoints.ids import workflow_key
from checkpoints.models import ArchiveProblem, Workflow
from checkpoints.verdicts import Range, Tail

MOST_SEGMENTS = 1_000


def archive_now(workflow: Workflow) -> None:
    """All of it, whatever its TTL says; it can be resumed as before. Raises NotMoved with the reason.

    Its event is `workflow.archived` with the reason `operator`; it has not expired, so there is no event of that.
    """
    done = Pass(reason="operator")
    for _ in range(MOST_SEGMENTS):
        if (claim := _claim(workflow.pk, done)) is None:
            break
        if not archiving.archive_claim(claim, done) or done.failed:
            raise NotMoved(_reason_of(workflow))
        if done.skipped:
            raise NotMoved("It was saved to meanwhile: try again.")
    _leave(workflow.pk, done)
    if not done.evicted:
        raise NotMoved("Redis holds what Postgres has not taken yet: try again in a moment.")


def _claim(pk: int, done: Pass) -> Claim | None:
    """None when every row of it is in a segment."""
    with transaction.atomic():
        row = Workflow.objects.select_for_update(no_key=True).get(pk=pk)
        if row.head_step is None:
            raise WorkflowNotFound
        if row.pinned:
            raise NotMoved("It is pinned: unpin it first.")
        if row.archived_sequence >= row.saved_sequence:
            return None
        claim = archiving.claim_locked(row, done)
    if claim is None:
        raise NotMoved(_reason_of(row) if done.failed else "Redis holds what Postgres has not taken yet: try again.")
    return claim


def _leave(pk: int, done: Pass) -> None:
    """Postgres first, so that nothing older is believed; then Redis and rows."""
    with transaction.atomic():
        row = Workflow.objects.select_for_update(no_key=True).get(pk=pk)
        if row.is_cold:
            raise NotMoved("It is in the archive already.")
        if row.archived_sequence < row.saved_sequence:
            raise NotMoved("It was saved to meanwhile: try again.")
        row.evict_at, row.version = timezone.now(), row.version + 1
        row.save(update_fields=["evict_at", "version"])
    try:
        archiving.evict(row, done)
    finally:
        if not done.evicted:  # its TTL counts again, and so does what is told of it
            unmoved = Workflow.objects.filter(pk=pk, version=row.version)
            unmoved.update(evict_at=F("expires_at"))


def _reason_of(workflow: Workflow) -> str:
    problem = ArchiveProblem.objects.filter(workflow=workflow.pk).first()
    return f"It could not be moved, and will be tried again: {problem.reason}" if problem else "It could not be moved."


def make_hot(workflow: Workflow) -> None:
    """As a resume does, but nobody's: it is not metered, and there is no event. Raises ServiceUnavailable."""
    key = workflow_key(workflow.account_id, workflow.workflow_id)
    newest = Range(newest_first=True, limit=1)
    tail = async_to_sync(settled)(key, lambda known: store.read(key, known, newest), waking=Waking.STATE)
    if not isinstance(tail, Tail):
        raise WorkflowNotFound if not isinstance(tail, Cold) else NotMoved("It is in the archive still: try again.")
