"""What accounts and workflows do not want to keep: all but the newest N checkpoints, or D days in the archive.

Off unless asked for; pinned workflows are left alone. Rows go one by one; of the archive only whole segments whose
every step is due. The head never goes, unless all goes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.db.models import Count, F, Q, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from checkpoints import archive, erasing, segment_format, store
from checkpoints.archive import ArchiveDown
from checkpoints.chains import detach
from checkpoints.history import UNREADABLE
from checkpoints.ids import WorkflowKey
from checkpoints.models import ArchiveIntent, ArchiveSegment, Workflow
from checkpoints.segment_format import IndexEntry
from snapstate_project.common import stopping

log = structlog.get_logger(__name__)


class Held(NamedTuple):
    """One stored revision: of a step, in a row (segment None) or in a segment."""

    step: int
    sequence: int
    size: int
    segment: int | None


class Plan(NamedTuple):
    """What goes and what is left: sequences of rows, ids of segments, then steps and their bytes of state."""

    rows: list[int]
    segments: list[int]
    first_kept: int
    total: int
    size: int
    gone: int


@dataclass(slots=True)
class Pruned:
    """What a pass took, or, dry, would take. Bytes are of states as sent."""

    workflows: int = 0
    checkpoints: int = 0
    state_bytes: int = 0
    skipped: int = 0
    failures: list[Exception] = field(default_factory=list)


def plan(held: list[Held], *, keep: int | None, head: int, too_old: set[int]) -> Plan:
    """`keep` newest steps (None: all), `head` the head's sequence, `too_old` ids of segments past their days."""
    steps = sorted({item.step for item in held}, reverse=True)
    first_kept = steps[keep - 1] if keep is not None and keep < len(steps) else 0
    last_step: dict[int, int] = {}
    with_head = {item.segment for item in held if item.sequence == head}
    for item in held:
        if item.segment is not None:
            last_step[item.segment] = max(last_step.get(item.segment, 0), item.step)
    everything = bool(held) and all(item.segment in too_old for item in held)
    going = {
        s for s, last in last_step.items() if last < first_kept or (s in too_old and (everything or s not in with_head))
    }
    left: dict[int, Held] = {}
    for item in held:
        stays = item.segment not in going if item.segment is not None else item.step >= first_kept
        if stays and (item.step not in left or left[item.step].sequence < item.sequence):
            left[item.step] = item
    # A row whose step stands in a segment that stays would only come back once the row is gone: it stays too.
    staying = {item.step for item in held if item.segment is not None and item.segment not in going}
    rows = [item.sequence for item in held if not (item.segment or item.step >= first_kept or item.step in staying)]
    size = sum(item.size for item in left.values())
    return Plan(rows, sorted(going), first_kept, len(left), size, len(steps) - len(left))


def prune(*, now: datetime | None = None, dry_run: bool = False, email: str | None = None) -> Pruned:
    """One pass over all that is due. `dry_run` only counts; `email` looks at one account.

    A workflow whose rows cannot be read is left as it is, and holds back no other.
    """
    now, done = now or timezone.now(), Pruned()
    for pk in _candidates(now, email):
        if stopping.has_begun():
            break
        try:
            _delete_objects(_prune_locked(pk, now, done, dry_run=dry_run))
        except UNREADABLE as error:
            log.exception("workflow_not_pruned", workflow=pk)
            done.failures.append(error)
    log.info(
        "retention_pass",
        dry_run=dry_run,
        workflows=done.workflows,
        checkpoints=done.checkpoints,
        failed=len(done.failures),
    )
    return done


def _prune_locked(pk: int, now: datetime, done: Pruned, *, dry_run: bool) -> list[str]:
    with transaction.atomic():
        locked = Workflow.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
        workflow = locked.select_related("account").filter(pk=pk, pinned=False, head_step__isnull=False).first()
        return _prune_one(workflow, now, done, dry_run=dry_run) if workflow else []


def beyond(account_id: UUID, *, keep_last: int | None, archive_days: int | None) -> list[str]:
    """What an account's next passes would delete for good under these terms, counted from above, in words."""
    told, live = [], Workflow.objects.filter(account_id=account_id, head_step__isnull=False, pinned=False)
    if keep_last is not None:
        longer = live.filter(keep_last=None, total_checkpoints__gt=keep_last)
        found = longer.aggregate(workflows=Count("pk"), checkpoints=Sum(F("total_checkpoints") - keep_last))
        told.append(_words(f"beyond the newest {keep_last:,}", **found))
    if archive_days is not None:
        before = timezone.now() - timedelta(days=archive_days)
        old = ArchiveSegment.objects.filter(workflow__in=live, created_at__lt=before)
        found = old.aggregate(workflows=Count("workflow", distinct=True), checkpoints=Sum("count"))
        told.append(_words(f"in the archive for over {archive_days:,} days", **found))
    return told


def _words(where: str, *, workflows: int, checkpoints: int | None) -> str:
    return f"{_many(checkpoints or 0, 'checkpoint')} of {_many(workflows, 'workflow')} {where}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _candidates(now: datetime, email: str | None) -> Iterator[int]:
    live = Workflow.objects.filter(head_step__isnull=False, pinned=False)
    live = live.filter(account__email=email.lower()) if email else live
    live = live.alias(kept=Coalesce("keep_last", "account__keep_last"))
    days_over = Q(
        account__archive_days__isnull=False,
        segments__created_at__lt=now - F("account__archive_days") * Value(timedelta(days=1)),
    )
    due = live.filter(Q(total_checkpoints__gt=F("kept")) | days_over)
    yield from due.values_list("pk", flat=True).distinct().iterator()


def _prune_one(workflow: Workflow, now: datetime, done: Pruned, *, dry_run: bool) -> list[str]:
    """Under the workflow's lock; the keys of objects to delete after the commit."""
    segments = list(ArchiveSegment.objects.filter(workflow=workflow, generation=workflow.generation))
    held = [*_rows(workflow), *(item for segment in segments for item in _entries(segment))]
    days = workflow.account.archive_days
    old = {s.pk for s in segments if days and s.created_at < now - timedelta(days=days)}
    cold = {s.pk for s in segments} if workflow.is_cold else set()
    keep = workflow.keep_last or workflow.account.keep_last
    found = plan(held, keep=keep, head=workflow.head_sequence or 0, too_old=old & cold)
    if not found.gone and not found.segments:
        return []
    keys = [segment.key for segment in segments if segment.pk in found.segments]
    if not dry_run and not _take(workflow, found, keys):
        transaction.set_rollback(True)
        done.skipped += 1
        return []
    done.workflows += 1
    done.checkpoints += found.gone
    done.state_bytes += workflow.size_bytes - found.size
    return [] if dry_run else keys


def _rows(workflow: Workflow) -> list[Held]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT step, sequence, size_bytes FROM checkpoints_checkpoint WHERE workflow_id = %s AND generation = %s",
            [workflow.pk, workflow.generation],
        )
        return [Held(step, sequence, size, None) for step, sequence, size in cursor.fetchall()]


def _entries(segment: ArchiveSegment) -> list[Held]:
    index: list[IndexEntry] = segment_format.unpack_index(bytes(segment.steps))
    return [Held(entry.step, entry.sequence, entry.size, segment.pk) for entry in index]


def _take(workflow: Workflow, found: Plan, keys: list[str]) -> bool:
    """Rows, segments, totals; then Redis, last before the commit. False: Redis has gone on, so not this time."""
    account, digest = workflow.account_id, bytes(workflow.digest)
    if store.is_ahead(account, digest, workflow.generation, workflow.last_sequence):
        return False
    # The intents are what has the objects deleted, should this process die after the commit.
    intents = [ArchiveIntent(workflow=workflow, generation=workflow.generation, key=key) for key in keys]
    ArchiveIntent.objects.bulk_create(intents)
    going = ArchiveSegment.objects.filter(pk__in=found.segments)
    workflow.stored_bytes -= sum(s.stored_bytes for s in going if s.last_sequence <= workflow.dropped_sequence)
    going.delete()
    if found.total == 0:
        erasing.erase_row(workflow, workflow.generation + 1)
        return True
    with connection.cursor() as cursor:
        workflow.stored_bytes += detach(cursor, workflow.pk, found.rows) if found.rows else 0
        cursor.execute(
            "DELETE FROM checkpoints_checkpoint WHERE workflow_id = %s AND sequence = ANY(%s)"
            " RETURNING octet_length(body)",
            [workflow.pk, found.rows],
        )
        workflow.stored_bytes -= sum(size for (size,) in cursor.fetchall())
    workflow.total_checkpoints, workflow.size_bytes, workflow.version = found.total, found.size, workflow.version + 1
    workflow.save(update_fields=["total_checkpoints", "size_bytes", "stored_bytes", "version"])
    left = store.Left(found.first_kept, found.total, found.size, workflow.version)
    return store.prune(WorkflowKey(account, "", digest), workflow.generation, workflow.last_sequence, left)


def _delete_objects(keys: list[str]) -> None:
    """What cannot be deleted now goes with its intent, an hour from now."""
    try:
        archive.delete(keys)
    except ArchiveDown:
        log.warning("pruned_objects_left_to_intents", objects=len(keys))
        return
    ArchiveIntent.objects.filter(key__in=keys).delete()
