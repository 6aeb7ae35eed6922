"""What OpenAPI says of this room's operations."""

from typing import Any, Literal

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from checkpoints import serializers
from checkpoints.envelope import ETAG_SCHEMA, SaveRequest, WorkflowChanges
from checkpoints.ids import MAX_STEP
from snapstate_project.common.ids import AGENT_ID_SCHEMA as AGENT
from snapstate_project.common.ids import WORKFLOW_ID_SCHEMA
from snapstate_project.common.openapi import links
from snapstate_project.common.pagination import CURSOR_SCHEMA, LIMIT_SCHEMA

Place = Literal["path", "query", "header"]
PATH: Place = "path"
QUERY: Place = "query"
HEADER: Place = "header"
STATUS = {"type": "string", "title": "WorkflowStatus", "enum": ["active", "completed", "failed", "stalled"]}
NEW_WORKFLOW = {"type": "string", "title": "IfNoneMatch", "enum": ["*"], "x-enum-varnames": ["ANY"]}
METADATA_VALUE = {"type": "string", "maxLength": 65_536}
# No workflow has NUL in its id.
ID_PREFIX = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[^\u0000]*$"}
STEP = {"type": "integer", "minimum": 0, "maximum": MAX_STEP}
CONFLICT = OpenApiResponse(
    serializers.Conflict, description="A guard or a step does not fit what is stored (`CONFLICT`)."
)


def _parameter(name: str, place: Place, schema: Any, said: str, **more: Any) -> OpenApiParameter:
    return OpenApiParameter(name, schema, place, description=said, **more)


def _etag(*codes: int) -> OpenApiParameter:
    said = "Names this revision of the checkpoint."
    return OpenApiParameter("ETag", str, HEADER, response=list(codes), required=True, description=said)


WORKFLOW = _parameter(
    "workflow_id", PATH, WORKFLOW_ID_SCHEMA, "The workflow's id, percent-encoded (a slash in it as `%2F`)."
)
CHECKPOINT = _parameter("checkpoint_id", PATH, str, "`cp_{workflow_id}_{step}`, percent-encoded.")
LIMIT = _parameter("limit", QUERY, LIMIT_SCHEMA, "Most per page.")
CURSOR = _parameter("cursor", QUERY, CURSOR_SCHEMA, "`next_cursor` of the page before.")

OF_WORKFLOW = {"workflow_id": "workflow_id"}

SAVE: dict[str, Any] = {
    "operation_id": "saveCheckpoint",
    "tags": ["Checkpoints"],
    "request": SaveRequest,
    "parameters": [
        _parameter(
            "X-Checkpoint-TTL",
            HEADER,
            {"type": "integer", "minimum": 1, "maximum": 31_536_000},
            "Seconds until the workflow moves to the archive, counted from its last save. Kept for later saves.",
        ),
        _parameter("If-Match", HEADER, ETAG_SCHEMA, "The head's etag, or `*` for a workflow that exists."),
        _parameter("If-None-Match", HEADER, NEW_WORKFLOW, "Only if the workflow does not exist."),
        _parameter("Prefer", HEADER, str, "`return=minimal` leaves out the diff; all else is ignored."),
        _etag(200, 201),
        OpenApiParameter(
            "Idempotent-Replayed", str, HEADER, response=[200], description="`true`: this save was stored before."
        ),
    ],
    "responses": {
        201: OpenApiResponse(serializers.SavedCheckpoint, description="Stored."),
        200: OpenApiResponse(serializers.SavedCheckpoint, description="Stored before, with the same content."),
        409: CONFLICT,
    },
    "extensions": links(
        "201",
        ("getCheckpoint", {"checkpoint_id": "checkpoint_id"}),
        ("resumeWorkflow replayWorkflow compareSteps getWorkflow changeWorkflow eraseWorkflow", OF_WORKFLOW),
        ("getWorkflowAnalytics", OF_WORKFLOW),
    ),
}
GET: dict[str, Any] = {
    "operation_id": "getCheckpoint",
    "tags": ["Checkpoints"],
    "parameters": [
        CHECKPOINT,
        _parameter("If-None-Match", HEADER, str, "An etag; 304 when it still fits."),
        _etag(200, 304),
    ],
    "responses": {200: serializers.CheckpointDetail, 304: OpenApiResponse(description="It is as you have it.")},
}
RESUME: dict[str, Any] = {
    "operation_id": "resumeWorkflow",
    "tags": ["Workflows"],
    "parameters": [WORKFLOW, _parameter("agent_id", QUERY, AGENT, "Who resumes."), _etag(200)],
    "responses": {200: serializers.ResumedWorkflow},
}
REPLAY: dict[str, Any] = {
    "operation_id": "replayWorkflow",
    "tags": ["Workflows"],
    "parameters": [
        WORKFLOW,
        _parameter("from_step", QUERY, STEP, "First step, inclusive."),
        _parameter("to_step", QUERY, STEP, "Last step, inclusive."),
        _parameter("label", QUERY, {"type": "string", "maxLength": 256}, "Only checkpoints with exactly this label."),
        _parameter(
            "limit", QUERY, {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}, "Most per page."
        ),
        CURSOR,
        _parameter("include_state", QUERY, {"type": "boolean", "default": True}, "Whether to send the states."),
    ],
    "responses": {200: serializers.Replay},
}
DIFF: dict[str, Any] = {
    "operation_id": "compareSteps",
    "tags": ["Workflows"],
    "parameters": [
        WORKFLOW,
        _parameter("from_step", QUERY, STEP, "The earlier step; by default the one before the later."),
        _parameter("to_step", QUERY, STEP, "The later step; by default the newest."),
    ],
    "responses": {200: serializers.StepsDiff},
}
LIST: dict[str, Any] = {
    "operation_id": "listWorkflows",
    "tags": ["Workflows"],
    "description": "All filters look at the head. Trails a save by at most two seconds.",
    "parameters": [
        _parameter("status", QUERY, STATUS, "Of the head; `stalled` is active without saves for a day."),
        _parameter("agent_id", QUERY, AGENT, "Who saved the head."),
        _parameter("label", QUERY, {"type": "string", "maxLength": 256}, "The head's label, exactly."),
        # A form-style object whose members are parameters themselves: `?metadata.team=red`.
        OpenApiParameter(
            "metadata",
            {"type": "object", "patternProperties": {r"^metadata\.": METADATA_VALUE}, "additionalProperties": False},
            QUERY,
            style="form",
            explode=True,
            description="As `metadata.<key>=<value>`: a string's value, or the JSON text of a number, boolean or null.",
        ),
        _parameter("updated_after", QUERY, OpenApiTypes.DATETIME, "Last activity after this time."),
        _parameter("updated_before", QUERY, OpenApiTypes.DATETIME, "Last activity before this time."),
        _parameter("q", QUERY, ID_PREFIX, "What the workflow's id begins with."),
        LIMIT,
        CURSOR,
    ],
    "responses": {200: serializers.WorkflowList},
}  # fmt: skip
SUMMARY: dict[str, Any] = {
    "operation_id": "getWorkflow",
    "tags": ["Workflows"],
    "parameters": [WORKFLOW, _etag(200)],
    "responses": {200: serializers.WorkflowSummary},
}
PATCH: dict[str, Any] = {
    "operation_id": "changeWorkflow",
    "tags": ["Workflows"],
    "parameters": [WORKFLOW],
    "request": WorkflowChanges,
    "responses": {200: serializers.WorkflowSummary},
}
ERASE: dict[str, Any] = {
    "operation_id": "eraseWorkflow",
    "tags": ["Workflows"],
    "parameters": [WORKFLOW],
    "responses": {204: OpenApiResponse(description="Erased: every read answers 404 from now on.")},
}
