"""Names that clients give: which are valid, how they stand in a path, and what stands for a workflow's elsewhere."""

import re
from hashlib import blake2b
from urllib.parse import unquote_to_bytes
from uuid import UUID

from snapstate_project.common.errors import ValidationFailed

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
AGENT_ID = re.compile(r"[A-Za-z0-9_.:-]{1,255}")
AGENT_ID_RULE = "must be 1 to 255 of A-Z a-z 0-9 _ . : -"
AGENT_ID_SCHEMA = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[A-Za-z0-9_.:-]+$"}
# Clients rewrite paths that end in these: nothing that is named in one may be called so.
REWRITTEN = (".", "..")
REGISTERED_AGENT_ID_SCHEMA = AGENT_ID_SCHEMA | {"pattern": r"^(?!\.{1,2}$)[A-Za-z0-9_.:-]+$"}
WORKFLOW_ID_SCHEMA = {
    "type": "string",
    "minLength": 1,
    "maxLength": 255,
    "pattern": r"^(?!\.{1,2}$)(?=.*\S)[^\u0000-\u001f\u007f-\u009f]+$",
}


def workflow_digest(account_id: UUID, workflow_id: str) -> bytes:
    """Stands for account and workflow in Redis keys, events and rows, so that no user text shapes a key."""
    return blake2b(workflow_id.encode(), digest_size=16, key=account_id.bytes).digest()


def check_workflow_id(workflow_id: str, path: str = "workflow_id") -> str:
    if not 1 <= len(workflow_id) <= 255:
        raise ValidationFailed.at(path, "must be 1 to 255 characters long")
    if workflow_id in REWRITTEN:
        raise ValidationFailed.at(path, "must not be '.' or '..'")
    if workflow_id.isspace():
        raise ValidationFailed.at(path, "must not be only spaces")
    if CONTROL.search(workflow_id):
        raise ValidationFailed.at(path, "must not contain control characters")
    return workflow_id


def workflow_id_from_path(segment: str) -> str:
    return check_workflow_id(decoded_segment(segment, "workflow_id"))


def decoded_segment(segment: str, path: str) -> str:
    """A segment of a raw path as text; what is no UTF-8 is refused under that name."""
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise ValidationFailed.at(path, "is not valid UTF-8") from None


def check_agent_id(agent_id: str, path: str = "agent_id") -> str:
    if not AGENT_ID.fullmatch(agent_id):
        raise ValidationFailed.at(path, AGENT_ID_RULE)
    return agent_id


def check_registered_agent_id(agent_id: str) -> str:
    if check_agent_id(agent_id) in REWRITTEN:
        raise ValidationFailed.at("agent_id", "must not be '.' or '..'")
    return agent_id


def agent(value: str) -> str:
    """A parser for query strings."""
    if not AGENT_ID.fullmatch(value):
        raise ValueError(AGENT_ID_RULE)
    return value
