"""Saving checkpoints and getting them back one by one."""

from collections.abc import Mapping
from typing import Any

from snapstate_sdk import reading
from snapstate_sdk.call import Call
from snapstate_sdk.errors import UnsendableValueError
from snapstate_sdk.models import Checkpoint, ErrorSeen, SaveResult, Status
from snapstate_sdk.outgoing import body, checked, encoded, header, segment


def save(
    workflow_id: str,
    step: int,
    state: Mapping[str, Any] | None = None,
    label: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    agent_id: str | None = None,
    ttl_seconds: int | None = None,
    if_match: str | None = None,
    *,
    if_none_match: str | None = None,
    status: Status | None = None,
    error: ErrorSeen | BaseException | None = None,
    state_json: str | bytes | None = None,
    metadata_json: str | bytes | None = None,
    diff: bool = True,
) -> Call[SaveResult]:
    """Save a step of a workflow. Made again with the same content, it answers with the first result.

    `step`: 0 to 2^53-1; the highest is the workflow's head. `state`: a dict, at most 1,048,576 bytes as JSON; or
    `state_json`: its text, which is kept to the byte. `metadata` or `metadata_json`: the same, at most 65,536 bytes.
    `ttl_seconds`: when the workflow goes to the archive, counted from its last save. `if_match`: the etag that the head
    must have ("*": any); `if_none_match="*"`: there must be no such workflow. `status`: "active" unless told otherwise.
    `error`: what went wrong at this step, also as an exception. `diff=False`: compute no diff.

    Raises ConflictError (other content is there, or the guard does not hold), PayloadTooLargeError, ValidationError,
    and UnsendableValueError, a ValueError, before anything is sent.
    """
    texts = {"state": _text("state", state, state_json), "metadata": _text("metadata", metadata, metadata_json)}
    seen = None if error is None else _error_seen(error)
    content = body(texts, workflow_id=workflow_id, step=step, label=label, agent_id=agent_id, status=status, error=seen)
    return Call("POST", "/checkpoints", reading.saved, content, _headers(ttl_seconds, if_match, if_none_match, diff))


def _headers(ttl_seconds: int | None, if_match: str | None, if_none_match: str | None, diff: bool) -> dict[str, str]:
    headers = {
        "X-Checkpoint-TTL": None if ttl_seconds is None else str(ttl_seconds),
        "If-Match": None if if_match is None else header(if_match, "if_match"),
        "If-None-Match": None if if_none_match is None else header(if_none_match, "if_none_match"),
        "Prefer": None if diff else "return=minimal",
    }
    return {name: value for name, value in headers.items() if value is not None}


def _text(name: str, value: Mapping[str, Any] | None, text: str | bytes | None) -> bytes | None:
    if value is not None and text is not None:
        raise UnsendableValueError(name, f"give either {name} or {name}_json")
    if text is not None:
        return checked(text, f"{name}_json")
    if value is None and name == "state":
        raise UnsendableValueError(name, "is required, as state or as state_json")
    if isinstance(value, Mapping) and not isinstance(value, dict):
        value = dict(value)
    return None if value is None else encoded(value, name)


def _error_seen(error: ErrorSeen | BaseException) -> ErrorSeen:
    """An exception is cut to what the server takes."""
    if not isinstance(error, BaseException):
        return error
    try:
        said = str(error)
    except Exception:  # noqa: BLE001 - one that has no text must not keep itself from being recorded
        said = object.__repr__(error)
    message = said.encode(errors="backslashreplace").decode()
    return {"type": type(error).__name__[:100], "message": message[:2000]}


def get(checkpoint_id: str) -> Call[Checkpoint]:
    """One checkpoint, from whichever tier holds it. Raises NotFoundError."""
    return Call("GET", f"/checkpoints/{segment(checkpoint_id, 'checkpoint_id')}", reading.checkpoint)


def get_if_changed(checkpoint_id: str, etag: str) -> Call[Checkpoint | None]:
    """The checkpoint, or None while it still has this etag. Raises NotFoundError."""
    path = f"/checkpoints/{segment(checkpoint_id, 'checkpoint_id')}"
    headers = {"If-None-Match": header(etag, "etag")}
    return Call("GET", path, reading.checkpoint_if_changed, headers=headers, understood=frozenset({304}))
