"""Names of workflows and checkpoints: what is a valid one, and how it stands in paths and Redis keys."""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from uuid import UUID

from checkpoints.errors import CheckpointNotFound
from snapstate_project.common.ids import CONTROL, decoded_segment, workflow_digest

SHARDS = 16
MAX_STEP = 2**53 - 1
_CHECKPOINT_ID = re.compile(r"cp_(.+)_(\d{3,16})", re.DOTALL)


@dataclass(frozen=True)
class WorkflowKey:
    """One account's workflow; `digest` stands for both in Redis keys, so that no user text shapes a key."""

    account_id: UUID
    workflow_id: str
    digest: bytes

    @cached_property
    def shard(self) -> int:
        return self.digest[0] % SHARDS

    @cached_property
    def named(self) -> tuple[str, str]:
        """Account and digest in hex, as Redis keys and events spell them."""
        return self.account_id.hex, self.digest.hex()

    @cached_property
    def redis_keys(self) -> tuple[bytes, ...]:
        """Head, log, steps, the shard's queue, tombstone, and how intake is: as the scripts take them."""
        shard = f"{{{self.shard:02d}}}"
        name = f"{shard}:{':'.join(self.named)}"
        own = [f"wf:{name}:head", f"wf:{name}:log", f"wf:{name}:steps"]
        return tuple(each.encode() for each in [*own, f"events:{shard}", f"gone:{name}", f"intake:{shard}"])


@lru_cache(maxsize=4_096)  # an agent saves one workflow many times
def workflow_key(account_id: UUID, workflow_id: str) -> WorkflowKey:
    return WorkflowKey(account_id, workflow_id, workflow_digest(account_id, workflow_id))


def checkpoint_id(workflow_id: str, step: int) -> str:
    return f"cp_{workflow_id}_{step:03d}"


def checkpoint_from_path(segment: str) -> tuple[str, int]:
    """The workflow id and step that a checkpoint id names."""
    match = _CHECKPOINT_ID.fullmatch(decoded_segment(segment, "checkpoint_id"))
    if match is None:
        raise CheckpointNotFound
    workflow_id, step = match[1], int(match[2])
    if f"{step:03d}" != match[2] or step > MAX_STEP or len(workflow_id) > 255 or CONTROL.search(workflow_id):
        raise CheckpointNotFound
    return workflow_id, step
