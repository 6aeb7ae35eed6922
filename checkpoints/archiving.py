"""Moving what expires: rows become a verified segment; later, rows and Redis let go of it. Each step may be repeated.

The order is what keeps everything: intent, object, read-back, then segment and event in one transaction under the
workflow's lock; rows and Redis go only after the expiry, and only when nothing was saved since.
"""

import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Sum
from django.utils import timezone

from checkpoints import archive, history, problems, segment_format, store
from checkpoints.archive import ArchiveDown
from checkpoints.content import Step
from checkpoints.models import ArchiveIntent, ArchiveProblem, ArchiveSegment, Checkpoint, Workflow
from checkpoints.segment_format import Packed
from snapstate_project.common import stopping
from snapstate_project.events.recording import record_event

LEASE = timedelta(minutes=10)
INTENT_AGE = timedelta(hours=1)
FAILURES_THAT_END_A_PASS = 5
SEGMENT_BYTES = 16 * 1_048_576

FIGURES = ("archived", "evicted", "skipped", "failed", "raw_bytes", "stored_bytes", "seconds")

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Pass:
    """What one pass did; times in seconds. `now` is the time it goes by, `reason` what its events say."""

    now: datetime = field(default_factory=timezone.now)
    archived: int = 0
    evicted: int = 0
    skipped: int = 0
    failed: int = 0
    raw_bytes: int = 0
    stored_bytes: int = 0
    seconds: float = 0.0
    reason: str = "ttl"
    ahead: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Claim:
    """A workflow under way to the archive, as it was when its rows were read."""

    workflow: Workflow
    intent: ArchiveIntent
    steps: list[Step]


def archive_expiring(*, now: datetime | None = None, limit: int = 10_000, seconds: float = 50.0) -> Pass:
    """Archive what is due and let go of what has expired. Many may run at once; none does another's work."""
    done, began, in_a_row = Pass(now or timezone.now()), time.monotonic(), 0

    def goes_on(count: int) -> bool:
        return count < limit and time.monotonic() - began < seconds and not stopping.has_begun()

    while goes_on(done.archived + done.skipped) and (claim := claim_due(done)):
        in_a_row = 0 if archive_claim(claim, done) else in_a_row + 1
        if in_a_row >= FAILURES_THAT_END_A_PASS:
            log.error("archive_pass_ended_early", failures=in_a_row)
            break
    while goes_on(done.evicted) and evict_due(done):
        pass
    with suppress(ArchiveDown):  # they are as stale in the next pass
        drop_stale_intents(done.now)
    done.seconds = round(time.monotonic() - began, 3)
    log.info("archive_pass", **{name: getattr(done, name) for name in FIGURES})
    return done


def claim_due(done: Pass) -> Claim | None:
    """The next workflow that is due, leased, with its intent committed; None when there is none."""
    while True:
        with transaction.atomic():
            due = Workflow.objects.filter(archive_at__lte=done.now, pinned=False).exclude(pk__in=done.ahead)
            workflow = due.select_for_update(skip_locked=True, no_key=True).order_by("archive_at").first()
            if workflow is None:
                return None
            claim = claim_locked(workflow, done)
        if claim is not None:
            return claim


def claim_locked(workflow: Workflow, done: Pass) -> Claim | None:
    """Under the workflow's lock. None: Redis is ahead, there is nothing to move, or its rows cannot be read."""
    if store.is_ahead(workflow.account_id, bytes(workflow.digest), workflow.generation, workflow.last_sequence):
        done.skipped += 1
        done.ahead.add(workflow.pk)
        return None
    try:
        steps = history.steps_above(workflow, workflow.archived_sequence, SEGMENT_BYTES)
    except history.UNREADABLE as error:
        done.failed += 1
        problems.set_aside(workflow, error, done.now)
        return None
    if not steps:
        Workflow.objects.filter(pk=workflow.pk).update(archive_at=None, evict_at=F("expires_at"))
        return None
    Workflow.objects.filter(pk=workflow.pk).update(archive_at=done.now + LEASE)
    return Claim(workflow, _intend(workflow, steps), steps)


def _intend(workflow: Workflow, steps: list[Step]) -> ArchiveIntent:
    sequences = [step.sequence for step in steps]
    key = archive.segment_key(
        workflow.account_id, bytes(workflow.digest), workflow.generation, min(sequences), max(sequences)
    )
    return ArchiveIntent.objects.create(workflow=workflow, generation=workflow.generation, key=key)


def archive_claim(claim: Claim, done: Pass) -> bool:
    """Whether the tier did its part; a workflow of its own fault is set aside and the pass goes on."""
    try:
        packed = segment_format.pack_segment(claim.steps, settings.ARCHIVE_COMPRESSION)
        archive.write(claim.intent.key, packed)
        kept = _commit_segment(claim, packed, done.reason)
        if not kept:
            drop_intent(claim.intent)
    except Exception as error:  # noqa: BLE001 (one workflow's fault must not end the pass)
        done.failed += 1
        problems.set_aside(claim.workflow, error, done.now)
        return not isinstance(error, ArchiveDown)
    done.archived += kept
    done.skipped += not kept
    if kept:
        done.raw_bytes += sum(len(step.state) for step in claim.steps)
        done.stored_bytes += len(packed.body)
    return True


def _commit_segment(claim: Claim, packed: Packed, reason: str) -> bool:
    """Segment, projection and event together, unless the workflow has moved since its rows were read, or the intent
    is gone and the object with it: for a pass that was held up for long, or beside a clock that is ahead, it was stale.
    """
    read, last = claim.workflow, max(step.sequence for step in claim.steps)
    with transaction.atomic():
        row = Workflow.objects.select_for_update(no_key=True).get(pk=read.pk)
        is_promised = ArchiveIntent.objects.filter(pk=claim.intent.pk).exists()
        if (row.generation, row.version) != (read.generation, read.version) or not is_promised:
            return False
        _create_segment(claim, packed)
        row.archived_sequence, row.version = last, row.version + 1
        whole = last >= row.saved_sequence
        row.archive_at = None if whole else read.archive_at  # a long history takes several segments
        row.evict_at = row.expires_at if whole else None
        row.save(update_fields=["archived_sequence", "version", "archive_at", "evict_at"])
        ArchiveProblem.objects.filter(workflow=row).delete()
        claim.intent.delete()
        record_event("workflow.archived", row.account_id, {**row.named, "reason": reason})
    return True


def _create_segment(claim: Claim, packed: Packed) -> None:
    index, steps = packed.index, [entry.step for entry in packed.index]
    ArchiveSegment.objects.create(
        workflow=claim.workflow,
        generation=claim.workflow.generation,
        key=claim.intent.key,
        first_sequence=index[0].sequence,
        last_sequence=index[-1].sequence,
        first_step=min(steps),
        last_step=max(steps),
        count=len(index),
        raw_bytes=sum(entry.size for entry in index),
        stored_bytes=len(packed.body),
        sha256=packed.sha256,
        steps=segment_format.pack_index(index),
        created_at=timezone.now(),
    )


def evict_due(done: Pass) -> bool:
    """Let go of one workflow whose time is over: Redis first, then rows and event. False when none is due."""
    with transaction.atomic():
        due = Workflow.objects.filter(evict_at__lte=done.now, pinned=False).exclude(pk__in=done.ahead)
        row = due.select_for_update(skip_locked=True, no_key=True).order_by("evict_at").first()
        if row is None:
            return False
        if row.archived_sequence < row.saved_sequence:
            Workflow.objects.filter(pk=row.pk).update(evict_at=None)  # whatever changed it sets its next time
            return True
        # Committed before Redis hears of it: what was read from Postgres until now can be installed there no more.
        row.version += 1
        row.save(update_fields=["version"])
    evict(row, done)
    return True


def evict(row: Workflow, done: Pass) -> None:
    """As it was read, or not at all."""
    with transaction.atomic():
        unmoved = Workflow.objects.filter(pk=row.pk, generation=row.generation, version=row.version)
        locked = unmoved.select_for_update(no_key=True).first()
        if locked is None:
            return
        if not store.evict(row.account_id, bytes(row.digest), row.generation, row.last_sequence, row.version):
            done.skipped += 1
            done.ahead.add(row.pk)
            return
        _let_go(locked, done)
    done.evicted += 1


def _let_go(row: Workflow, done: Pass) -> None:
    """Whose TTL has ended has expired; what an operator moves has not."""
    Checkpoint.objects.filter(workflow=row, sequence__lte=row.archived_sequence).delete()
    segments = ArchiveSegment.objects.filter(workflow=row, generation=row.generation)
    first_time = row.evicted_at is None
    row.dropped_sequence, row.evict_at, row.evicted_at = row.archived_sequence, None, row.evicted_at or done.now
    row.version += 1
    row.stored_bytes = segments.aggregate(held=Sum("stored_bytes"))["held"] or 0
    row.save(update_fields=["dropped_sequence", "version", "evict_at", "evicted_at", "stored_bytes"])
    if first_time and done.reason == "ttl":
        record_event("workflow.expired", row.account_id, row.named)


def drop_stale_intents(now: datetime) -> int:
    """Objects whose archiver died before their segment was written; an hour is longer than any upload takes."""
    stale = ArchiveIntent.objects.filter(created_at__lt=now - INTENT_AGE)[:1000]
    return sum(drop_intent(intent) for intent in stale)


def drop_intent(intent: ArchiveIntent) -> bool:
    """Whether its object went too: not while a segment, or another upload of the same name, needs it."""
    with transaction.atomic():
        Workflow.objects.select_for_update(no_key=True).get(pk=intent.workflow_id)
        others = ArchiveIntent.objects.filter(key=intent.key).exclude(pk=intent.pk)
        needed = ArchiveSegment.objects.filter(key=intent.key).exists() or others.exists()
        if not needed:
            archive.delete([intent.key])
        intent.delete()
    return not needed
