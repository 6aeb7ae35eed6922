"""Every field of this room's answers. Client JSON stands in them as raw text and is spliced, never encoded."""

from typing import Annotated, Literal

import msgspec

from checkpoints.content import Status, StepError
from snapstate_project.common.bodies import JSONObject

Source = Annotated[Literal["hot", "warm", "archive"], msgspec.Meta(title="ResumeSource")]
Tier = Annotated[Literal["live", "archive"], msgspec.Meta(title="WorkflowTier")]
Moment = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]


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
    created_at: Moment
    size_bytes: int
    diff_from_previous: Diff | msgspec.UnsetType | None = msgspec.UNSET


class ExistingCheckpoint(msgspec.Struct):
    checkpoint_id: str
    etag: str


class Conflict(msgspec.Struct):
    """Beside the error stands what was found: the head, or the checkpoint at that step; null when there is none."""

    error: Annotated[msgspec.Raw, msgspec.Meta(extra_json_schema={"$ref": "#/components/schemas/ApiError"})]
    existing: ExistingCheckpoint | None


class LatestCheckpoint(msgspec.Struct):
    checkpoint_id: str
    step: int
    label: str | None
    state: JSONObject
    metadata: JSONObject | None
    agent_id: str | None
    etag: str
    created_at: Moment
    size_bytes: int


class ReplayedCheckpoint(msgspec.Struct):
    """As in a resume, with its status and error; `state` is left out with `include_state=false`."""

    checkpoint_id: str
    step: int
    label: str | None
    metadata: JSONObject | None
    agent_id: str | None
    status: Status
    error: StepError | None
    etag: str
    created_at: Moment
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
    error: StepError | None
    etag: str
    created_at: Moment
    expires_at: Moment | None
    diff_from_previous: Diff | None
    size_bytes: int


class ResumedWorkflow(msgspec.Struct):
    workflow_id: str
    status: Status
    latest_checkpoint: LatestCheckpoint
    total_checkpoints: int
    workflow_started_at: Moment
    last_activity_at: Moment
    expires_at: Moment | None
    source: Source


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
    started_at: Moment
    last_activity_at: Moment
    expires_at: Moment | None
    pinned: bool
    ttl_seconds: int | None
    keep_last: int | None
    tier: Tier


class WorkflowList(msgspec.Struct):
    workflows: list[WorkflowSummary]
    has_more: bool
    next_cursor: str | None
