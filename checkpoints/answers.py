"""From what the tiers hold to what the API answers."""

from typing import Any

import msgspec
from django.http import HttpResponse

from checkpoints.content import Step, decode_envelope, etag
from checkpoints.diff import Difference
from checkpoints.envelope import NewCheckpoint
from checkpoints.ids import checkpoint_id
from checkpoints.models import Workflow
from checkpoints.serializers import (
    CheckpointDetail,
    Diff,
    LatestCheckpoint,
    ReplayedCheckpoint,
    ResumedWorkflow,
    SavedCheckpoint,
    WorkflowSummary,
)
from checkpoints.services import SaveOutcome
from checkpoints.times import microseconds
from checkpoints.verdicts import Head
from snapstate_project.common.api import iso, json_response


def quoted(bare: str) -> str:
    return f'"{bare}"'


def tagged(answer: Any, bare_etag: str, status: int = 200, **headers: str) -> HttpResponse:
    return json_response(answer, status, {"ETag": quoted(bare_etag), **headers})


def latest_of(workflow_id: str, step: Step) -> LatestCheckpoint:
    envelope = decode_envelope(step.envelope)
    return LatestCheckpoint(
        checkpoint_id=checkpoint_id(workflow_id, step.step),
        step=step.step,
        label=envelope.label,
        state=msgspec.Raw(step.state),
        metadata=_raw(step.metadata),
        agent_id=envelope.agent_id,
        etag=quoted(step.etag),
        created_at=_iso(step.at),
        size_bytes=len(step.state),
    )


def resumed(workflow_id: str, head: Head, step: Step, source: str) -> ResumedWorkflow:
    return ResumedWorkflow(
        workflow_id=workflow_id,
        status=head.status,  # type: ignore[arg-type]
        latest_checkpoint=latest_of(workflow_id, step),
        total_checkpoints=head.total,
        workflow_started_at=_iso(head.started),
        last_activity_at=_iso(head.at),
        expires_at=expiry(head),
        source=source,  # type: ignore[arg-type]
    )


def replayed(workflow_id: str, step: Step, *, include_state: bool) -> ReplayedCheckpoint:
    envelope = decode_envelope(step.envelope)
    return ReplayedCheckpoint(
        checkpoint_id=checkpoint_id(workflow_id, step.step),
        step=step.step,
        label=envelope.label,
        metadata=_raw(step.metadata),
        agent_id=envelope.agent_id,
        status=envelope.status,
        error=envelope.error,
        etag=quoted(step.etag),
        created_at=_iso(step.at),
        size_bytes=len(step.state),
        state=msgspec.Raw(step.state) if include_state else msgspec.UNSET,
    )


def detail(workflow_id: str, head: Head, step: Step, changes: Difference | None) -> CheckpointDetail:
    envelope = decode_envelope(step.envelope)
    return CheckpointDetail(
        checkpoint_id=checkpoint_id(workflow_id, step.step),
        workflow_id=workflow_id,
        step=step.step,
        label=envelope.label,
        state=msgspec.Raw(step.state),
        metadata=_raw(step.metadata),
        agent_id=envelope.agent_id,
        status=envelope.status,
        error=envelope.error,
        etag=quoted(step.etag),
        created_at=_iso(step.at),
        expires_at=expiry(head),
        diff_from_previous=None if changes is None else Diff(**changes),
        size_bytes=len(step.state),
    )


def summary_of(workflow_id: str, head: Head, step: Step) -> WorkflowSummary:
    envelope = decode_envelope(step.envelope)
    return WorkflowSummary(
        workflow_id=workflow_id,
        status=head.status,  # type: ignore[arg-type]
        latest_step=head.step,
        label=envelope.label,
        agent_id=envelope.agent_id,
        metadata=_raw(step.metadata),
        etag=quoted(etag(head.generation, head.sequence, head.digest)),
        total_checkpoints=head.total,
        size_bytes=head.size,
        started_at=_iso(head.started),
        last_activity_at=_iso(head.at),
        expires_at=expiry(head),
        pinned=head.pinned,
        ttl_seconds=head.ttl,
        keep_last=head.keep_last,
        tier="live",
    )


def summary_of_row(row: Workflow) -> WorkflowSummary:
    """The same from Postgres, which trails by a moment."""
    digest = bytes(row.head_digest or b"").hex()
    return WorkflowSummary(
        workflow_id=row.workflow_id,
        status=row.status,  # type: ignore[arg-type]
        latest_step=row.head_step or 0,
        label=row.label,
        agent_id=row.agent_id,
        metadata=_raw(bytes(row.metadata or b"")),
        etag=quoted(etag(row.generation, row.head_sequence or 0, digest)),
        total_checkpoints=row.total_checkpoints,
        size_bytes=row.size_bytes,
        started_at=_iso(microseconds(row.started_at)) if row.started_at else "",
        last_activity_at=_iso(microseconds(row.last_activity_at)) if row.last_activity_at else "",
        expires_at=_iso(microseconds(row.leaves_at)) if row.leaves_at else None,
        pinned=row.pinned,
        ttl_seconds=row.ttl_seconds,
        keep_last=row.keep_last,
        tier="archive" if row.is_cold else "live",
    )


def expiry(head: Head) -> str | None:
    return None if head.pinned or head.archived else _iso(head.expires)


def _iso(at: int) -> str:
    return iso(at // 1000)


def _raw(text: bytes) -> msgspec.Raw | None:
    return msgspec.Raw(text) if text else None


def saved(new: NewCheckpoint, outcome: SaveOutcome) -> HttpResponse:
    answer = SavedCheckpoint(
        checkpoint_id=checkpoint_id(new.workflow_id, new.step),
        workflow_id=new.workflow_id,
        step=new.step,
        etag=quoted(outcome.etag),
        created_at=_iso(outcome.at),
        size_bytes=outcome.size,
        diff_from_previous=outcome.diff if new.wants_diff else msgspec.UNSET,  # type: ignore[arg-type]
    )
    headers = {"Idempotent-Replayed": "true"} if outcome.replayed else {}
    if not new.wants_diff:
        headers["Preference-Applied"] = "return=minimal"
    return tagged(answer, outcome.etag, 200 if outcome.replayed else 201, **headers)
