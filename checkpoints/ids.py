"""Names of workflows and checkpoints: what is a valid one, and how it stands in paths and Redis keys."""

import re
from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import unquote_to_bytes
from uuid import UUID

from checkpoints.errors import CheckpointNotFound, invalid

SHARDS = 16
MAX_STEP = 2**53 - 1
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CHECKPOINT_ID = re.compile(r"cp_(.+)_(\d{3,16})", re.DOTALL)
AGENT_ID = re.compile(r"[A-Za-z0-9_.:-]{1,255}")


class WorkflowKey(NamedTuple):
    """One account's workflow; `digest` stands for both in Redis keys, so that no user text shapes a key."""

    account_id: UUID
    workflow_id: str
    digest: bytes

    @property
    def shard(self) -> int:
        return self.digest[0] % SHARDS


def workflow_key(account_id: UUID, workflow_id: str) -> WorkflowKey:
    digest = blake2b(workflow_id.encode(), digest_size=16, key=account_id.bytes).digest()
    return WorkflowKey(account_id, workflow_id, digest)


def check_workflow_id(workflow_id: str, path: str = "workflow_id") -> str:
    if not 1 <= len(workflow_id) <= 255:
        raise invalid(path, "must be 1 to 255 characters long")
    if workflow_id in (".", ".."):
        raise invalid(path, "must not be '.' or '..'")
    if workflow_id.isspace():
        raise invalid(path, "must not be only spaces")
    if _CONTROL.search(workflow_id):
        raise invalid(path, "must not contain control characters")
    return workflow_id


def workflow_id_from_path(segment: str) -> str:
    return check_workflow_id(_decoded(segment, "workflow_id"))


def _decoded(segment: str, path: str) -> str:
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise invalid(path, "is not valid UTF-8") from None


def checkpoint_id(workflow_id: str, step: int) -> str:
    return f"cp_{workflow_id}_{step:03d}"


def checkpoint_from_path(segment: str) -> tuple[str, int]:
    """The workflow id and step that a checkpoint id names."""
    match = _CHECKPOINT_ID.fullmatch(_decoded(segment, "checkpoint_id"))
    if match is None:
        raise CheckpointNotFound
    workflow_id, step = match[1], int(match[2])
    if f"{step:03d}" != match[2] or step > MAX_STEP or len(workflow_id) > 255 or _CONTROL.search(workflow_id):
        raise CheckpointNotFound
    return workflow_id, step
