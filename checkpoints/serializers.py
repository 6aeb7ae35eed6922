"""Every field of this room's requests and answers. Client JSON stands in them as raw text and is spliced, not encoded."""

from typing import Annotated, Any, Literal

import msgspec
from django.http import HttpResponse

from checkpoints.content import Status, Step, decode_envelope, etag
from checkpoints.diff import Difference
from checkpoints.ids import checkpoint_id
from checkpoints.models import Workflow
from checkpoints.times import microseconds
from checkpoints.verdicts import Head
from snapstate_project.common.api import iso, json_response

JSONObject = Annotated[
    msgspec.Raw, msgspec.Meta(extra_json_schema={"type": "object", "description": "Byte for byte as it was sent."})
]
NULL = msgspec.Raw(b"null")


class Diff(msgspec.Struct, omit_defaults=True):
    """Paths of leaves, such as `a.b[0].c`."""

    added: list[str]
    removed: list[str]
    changed: list[str]
    truncated: bool = False


class SavedCheckpoint(msgspec.Struct):
    checkpoint_id: str
    workflow_id: str
    step: int
    etag: str
    created_at: str
    size_bytes: int
    diff_from_previous: Diff | None | msgspec.UnsetType = msgspec.UNSET


class LatestCheckpoint(msgspec.Struct):
    checkpoint_id: str
    step: int
    label: str | None
    state: JSONObject
    metadata: JSONObject | None
    agent_id: str | None
    etag: str
    created_at: str
    size_bytes: int


class ErrorSeen(msgspec.Struct):
    type: str
    message: str


class ReplayedCheckpoint(msgspec.Struct):
    """As in a resume, with its status and error; `state` is left out with `include_state=false`."""

    checkpoint_id: str
    step: int
    label: str | None
    metadata: JSONObject | None
    agent_id: str | None
    status: Status
    error: ErrorSeen | None
    etag: str
    created_at: str
    size_bytes: int
    state: JSONObject | msgspec.UnsetType = msgspec.UNSET


class CheckpointDetail(msgspec.Struct):
    checkpoint_id: str
    workflow_id: str
    step: int
    label: str | None
    state: JSONObject
    metadata: JSONObject | None
    agent_id: str | None
    status: Status
    error: ErrorSeen | None
    etag: str
    created_at: str
    expires_at: str | None
    diff_from_previous: Diff
    size_bytes: int


class ResumedWorkflow(msgspec.Struct):
    workflow_id: str
    status: Status
    latest_checkpoint: LatestCheckpoint
    total_checkpoints: int
    workflow_started_at: str
    last_activity_at: str
    expires_at: str | None
    source: Literal["hot", "warm", "archive"]


class Replay(msgspec.Struct):
    workflow_id: str
    checkpoints: list[ReplayedCheckpoint]
    total: int
    has_more: bool
    next_cursor: str | None


class StepsDiff(msgspec.Struct):
    workflow_id: str
    from_step: int | None
    to_step: int
    diff: Diff


class WorkflowSummary(msgspec.Struct):
    """The fields of a workflow's head, and what counts for the whole of it."""

    workflow_id: str
    status: Status
    latest_step: int
    label: str | None
    agent_id: str | None
    metadata: JSONObject | None
    etag: str
    total_checkpoints: int
    size_bytes: int
    started_at: str
    last_activity_at: str
    expires_at: str | None
    pinned: bool
    ttl_seconds: int | None
    keep_last: int | None
    tier: Literal["live", "archive"]


class WorkflowList(msgspec.Struct):
    workflows: list[WorkflowSummary]
    has_more: bool
    next_cursor: str | None


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
        error=_seen(envelope.error),
        etag=quoted(step.etag),
        created_at=_iso(step.at),
        size_bytes=len(step.state),
        state=msgspec.Raw(step.state) if include_state else msgspec.UNSET,
    )


def detail(workflow_id: str, head: Head, step: Step, changes: Difference) -> CheckpointDetail:
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
        error=_seen(envelope.error),
        etag=quoted(step.etag),
        created_at=_iso(step.at),
        expires_at=expiry(head),
        diff_from_previous=Diff(**changes),
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
        expires_at=_iso(microseconds(row.expires_at)) if row.expires_at and not row.pinned else None,
        pinned=row.pinned,
        ttl_seconds=row.ttl_seconds,
        keep_last=row.keep_last,
        tier="live",
    )


def expiry(head: Head) -> str | None:
    return None if head.pinned else _iso(head.expires)


def _iso(at: int) -> str:
    return iso(at // 1000)


def _raw(text: bytes) -> msgspec.Raw | None:
    return msgspec.Raw(text) if text else None


def _seen(error: Any) -> ErrorSeen | None:
    return ErrorSeen(error.type, error.message) if error else None
