"""The states that this process saved last: a next save is compared with them while Redis is at work.

They are never answered to anybody: the script says whether the head is still that very revision, and only then does the
comparison count.
"""

from collections import OrderedDict
from typing import NamedTuple

from checkpoints.diff import Members
from checkpoints.ids import WorkflowKey

MOST_BYTES = 16 * 1_048_576
MOST_BYTES_A_STATE = 262_144
MOST_MEMBERS, MOST_NAME_CHARACTERS = 200, 4_000
OVERHEAD, OVERHEAD_A_MEMBER = 1_000, 200


class Revision(NamedTuple):
    """`members`: the state taken apart, where that has been done already."""

    generation: int
    sequence: int
    state: bytes
    members: Members | None = None

    @property
    def name(self) -> str:
        """As save.lua spells the head it would not read."""
        return f"{self.generation}:{self.sequence}"

    @property
    def weight(self) -> int:
        """Bytes of memory, about."""
        return OVERHEAD + len(self.state) + (OVERHEAD_A_MEMBER * len(self.members.values) if self.members else 0)


def worth_keeping(members: Members, state: bytes) -> Members | None:
    """None where they take more memory than the work that they spare is worth: of many members, or of long names."""
    names = members.values
    if len(state) > MOST_BYTES_A_STATE or len(names) > MOST_MEMBERS or sum(map(len, names)) > MOST_NAME_CHARACTERS:
        return None
    return members


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
        self.bytes += revision.weight
        while self.bytes > self.most_bytes:
            self.bytes -= self.by_digest.popitem(last=False)[1].weight

    def forget(self, key: WorkflowKey) -> None:
        known = self.by_digest.pop(key.digest, None)
        if known is not None:
            self.bytes -= known.weight
