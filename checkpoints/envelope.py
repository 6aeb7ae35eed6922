"""A save as it came in: the envelope parsed once and judged, state and metadata kept as the bytes they are."""

import re
from collections.abc import Mapping
from typing import Annotated

import msgspec

from checkpoints import content
from checkpoints.content import Envelope, Status, StepError
from checkpoints.errors import invalid
from checkpoints.ids import MAX_STEP
from snapstate_project.common.bodies import MAX_METADATA_BYTES, JSONObject, JSONObjectOrNull, check_object, decoded
from snapstate_project.common.errors import PayloadTooLarge
from snapstate_project.common.ids import AGENT_ID_SCHEMA, WORKFLOW_ID_SCHEMA, check_agent_id, check_workflow_id

MAX_STATE_BYTES = 1_048_576
MAX_TTL_SECONDS = 31_536_000
_ETAG = re.compile(r'(?:W/)?(?:"([!#-~\x80-\xff]{1,200})"|([!#-+\--~]{1,200}))')

ETAG_SCHEMA = {"type": "string", "pattern": r'^(W/)?("[!#-~]{1,200}"|[!#-+\--~]{1,200})$'}
WorkflowId = Annotated[str, msgspec.Meta(extra_json_schema=WORKFLOW_ID_SCHEMA)]
AgentId = Annotated[str, msgspec.Meta(extra_json_schema=AGENT_ID_SCHEMA)]


class SaveRequest(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    workflow_id: WorkflowId
    step: Annotated[int, msgspec.Meta(ge=0, le=MAX_STEP)]
    state: JSONObject
    label: Annotated[str, msgspec.Meta(max_length=256)] | None = None
    agent_id: AgentId | None = None
    metadata: JSONObjectOrNull = msgspec.field(default_factory=lambda: msgspec.Raw(b"null"))
    status: Status = "active"
    error: StepError | None = None


class NewCheckpoint(msgspec.Struct, frozen=True):
    workflow_id: str
    step: int
    state: bytes
    metadata: bytes
    envelope: bytes
    status: Status
    digest: str
    ttl_seconds: int | None
    guard: str
    wants_diff: bool


_save = msgspec.json.Decoder(SaveRequest)


def parse(body: bytes, meta: Mapping[str, str]) -> NewCheckpoint:
    """The checkpoint that a request (its body and Django's META) asks to save, or ValidationFailed naming the field."""
    fields = decoded(body, _save)
    state, metadata = bytes(fields.state), bytes(fields.metadata)
    if metadata == b"null":
        metadata = b""
    if len(state) > MAX_STATE_BYTES and state[:1] == b"{":
        raise PayloadTooLarge(f"state is {len(state)} bytes; at most {MAX_STATE_BYTES} are taken.")
    check_object(state, "state", MAX_STATE_BYTES)
    if metadata:
        check_object(metadata, "metadata", MAX_METADATA_BYTES)
    check_workflow_id(fields.workflow_id)
    if fields.agent_id is not None:
        check_agent_id(fields.agent_id)
    envelope = content.encode_envelope(Envelope(fields.label, fields.agent_id, fields.status, fields.error))
    return NewCheckpoint(
        workflow_id=fields.workflow_id,
        step=fields.step,
        state=state,
        metadata=metadata,
        envelope=envelope,
        status=fields.status,
        digest=content.digest(envelope, metadata, state),
        ttl_seconds=_ttl(meta.get("HTTP_X_CHECKPOINT_TTL")),
        guard=guard_word(meta.get("HTTP_IF_MATCH"), meta.get("HTTP_IF_NONE_MATCH")),
        wants_diff="return=minimal" not in meta.get("HTTP_PREFER", ""),
    )


class WorkflowChanges(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a PATCH of a workflow changes; what is left out stays, `keep_last: null` removes it."""

    ttl_seconds: Annotated[int, msgspec.Meta(ge=1, le=MAX_TTL_SECONDS)] | msgspec.UnsetType = msgspec.UNSET
    pinned: bool | msgspec.UnsetType = msgspec.UNSET
    keep_last: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)] | msgspec.UnsetType | None = msgspec.UNSET


_changes = msgspec.json.Decoder(WorkflowChanges)


def parse_changes(body: bytes) -> WorkflowChanges:
    changes = decoded(body, _changes)
    if changes == WorkflowChanges():
        raise invalid("body", "names nothing to change: ttl_seconds, pinned or keep_last")
    return changes


def _ttl(value: str | None) -> int | None:
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,8}", value) or not 1 <= int(value) <= MAX_TTL_SECONDS:
        raise invalid("X-Checkpoint-TTL", f"must be whole seconds from 1 to {MAX_TTL_SECONDS}")
    return int(value)


def guard_word(if_match: str | None, if_none_match: str | None) -> str:
    """The guard as one word: "" none, "*" must exist, "!" must not, "=<etag>" must be the head's."""
    if if_match is None and if_none_match is None:
        return ""
    if if_match is not None and if_none_match is not None:
        raise invalid("If-None-Match", "cannot be given together with If-Match")
    if if_match is None:
        if if_none_match != "*":
            raise invalid("If-None-Match", "must be * when saving")
        return "!"
    return "*" if if_match == "*" else "=" + etag_from(if_match, "If-Match")


def etag_from(value: str, header: str) -> str:
    """The bare etag of a header value: quoted, unquoted or weak."""
    match = _ETAG.fullmatch(value.strip())
    if match is None:
        raise invalid(header, "is not an etag")
    return match[1] or match[2]
