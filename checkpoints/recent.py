"""The states that this process saved last: a next save is compared with them while Redis is at work.

They are never answered to anybody: the script says whether the head is still that very revision, and only then does the
comparison count.
"""

from collections import OrderedDict
from typing import NamedTuple

from checkpoints.ids import WorkflowKey

MOST_BYTES = 16 * 1_048_576
MOST_BYTES_A_STATE = 262_144


class Revision(NamedTuple):
    generation: int
    sequence: int
    state: bytes

    @property
    def name(self) -> str:
        """As save.lua spells the head it would not read."""
        return f"{self.generation}:{self.sequence}"


class RecentStates:
    """At most `most_bytes` of them; who was saved longest ago goes first. Use from one thread."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self.by_digest: OrderedDict[bytes, Revision] = OrderedDict()

    def get(self, key: WorkflowKey) -> Revision | None:
        return self.by_digest.get(key.digest)

    def put(self, key: WorkflowKey, revision: Revision) -> None:
        self.forget(key)
        if len(revision.state) > MOST_BYTES_A_STATE:
            return
        self.by_digest[key.digest] = revision
        self.bytes += len(revision.state)
        while self.bytes > self.most_bytes:
            self.bytes -= len(self.by_digest.popitem(last=False)[1].state)

    def forget(self, key: WorkflowKey) -> None:
        known = self.by_digest.pop(key.digest, None)
        if known is not None:
            self.bytes -= len(known.state)
