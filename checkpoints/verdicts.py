"""What the scripts are told and what they answer. All times in microseconds since the epoch."""

import msgspec

from checkpoints.content import Step


class KnownHead(msgspec.Struct, kw_only=True):
    """The head as Postgres (or an archive) has it, in the form the scripts install it. Times in microseconds."""

    seq: int
    step: int
    digest: str
    guard: str
    status: str
    total: int
    size: int
    started: int
    at: int
    saved: int
    ttl: str
    expires: int
    pinned: str
    keep: str


class KnownStep(msgspec.Struct):
    seq: int
    size: int
    digest: str
    guard: str
    at: int
    same: bool


class Known(msgspec.Struct):
    """What a caller found out for a script that asked, and the basis (what Redis held then) it rests on.

    `content` is the head's, packed, while some tier but Redis holds it.
    """

    basis: str | None = None
    gen: int = 1
    last: int = 0
    ver: int = 0
    head: KnownHead | None = None
    trim: int | None = None
    step: KnownStep | None = None
    compared: int | None = None
    same: bool | None = None
    source: str = "warm"
    content: bytes = b""

    def packed(self) -> bytes:
        # Redis reads no binary MessagePack, so the content goes behind it.
        names = [name for name in self.__struct_fields__ if name != "content"]
        fields = {name: value for name in names if (value := getattr(self, name)) is not None}
        message = msgspec.msgpack.encode(fields)
        return b"%08d%b%b" % (len(message), message, self.content)


class Ask(msgspec.Struct, frozen=True):
    """Redis alone cannot know; `why` is head or step."""

    why: str
    basis: str


class Compare(msgspec.Struct, frozen=True):
    """Other bytes stand at this step: whether they are the same JSON value is judged outside Redis."""

    step: Step


class Saved(msgspec.Struct, frozen=True):
    etag: str
    at: int
    generation: int
    sequence: int
    how: str
    previous: bytes
    pace: int


class Replayed(msgspec.Struct, frozen=True):
    etag: str
    at: int
    sequence: int
    size: int


class Refused(msgspec.Struct, frozen=True):
    why: str
    etag: str | None
    step: int | None


class Busy(msgspec.Struct, frozen=True):
    """Intake is behind for too long; nothing was written."""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What Redis keeps of a whole workflow. Times in microseconds; `expires` counts even while pinned."""

    generation: int
    last: int
    sequence: int
    step: int
    digest: str
    status: str
    total: int
    size: int
    started: int
    at: int
    ttl: int | None
    expires: int
    pinned: bool
    keep_last: int | None
    archived: bool = False


class Resumed(msgspec.Struct, frozen=True):
    """`step` is None when the head's entry is not in Redis."""

    head: Head
    step: Step | None
    source: str


class Tail(msgspec.Struct, frozen=True):
    head: Head
    steps: list[Step]
    complete: bool
    more: bool


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """Which steps to read, at most how many and how many bytes; `metered`: as an answered replay."""

    first: int = 0
    last: int = 2**53 - 1
    newest_first: bool = False
    limit: int = 2**31
    room: int = 2**31
    metered: bool = False
