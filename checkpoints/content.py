"""The content of a checkpoint as one run of bytes: what is hashed, what is compressed, what "same" is about."""

from functools import lru_cache
from hashlib import sha256
from typing import Annotated, Literal

import msgspec

Status = Annotated[Literal["active", "completed", "failed"], msgspec.Meta(title="CheckpointStatus")]


class StepError(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An error seen at a step."""

    type: Annotated[str, msgspec.Meta(max_length=100)]
    message: Annotated[str, msgspec.Meta(max_length=2000)]


class Envelope(msgspec.Struct, array_like=True, frozen=True):
    """The small fields of a checkpoint, in the one form in which they are stored and hashed."""

    label: str | None
    agent_id: str | None
    status: Status
    error: StepError | None


encode_envelope = msgspec.json.Encoder().encode
decode_envelope = lru_cache(maxsize=1_000)(msgspec.json.Decoder(Envelope).decode)  # agents repeat themselves


def pack(envelope: bytes, metadata: bytes, state: bytes) -> bytes:
    """The three parts behind their lengths; metadata is empty where there is none."""
    return b"%d:%d:%b%b%b" % (len(envelope), len(metadata), envelope, metadata, state)


def unpack(content: bytes) -> tuple[bytes, bytes, bytes]:
    envelope_size, metadata_size, _ = content.split(b":", 2)
    start = len(envelope_size) + len(metadata_size) + 2
    middle = start + int(envelope_size)
    end = middle + int(metadata_size)
    return content[start:middle], content[middle:end], content[end:]


def digest(envelope: bytes, metadata: bytes, state: bytes) -> str:
    """SHA-256 of the packed content, in hex."""
    return sha256(pack(envelope, metadata, state)).hexdigest()


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One checkpoint as it stands in some tier. `at` is its time in microseconds, `digest` hex."""

    generation: int
    sequence: int
    step: int
    at: int
    digest: str
    guard: str
    envelope: bytes
    metadata: bytes
    state: bytes

    @property
    def size(self) -> int:
        return len(self.state)

    @property
    def weight(self) -> int:
        """Bytes it takes in an answer, about."""
        return len(self.state) + len(self.metadata) + len(self.envelope)

    @property
    def etag(self) -> str:
        return etag(self.generation, self.sequence, self.digest)


def etag(generation: int, sequence: int, digest: str) -> str:
    """Names one revision: generation, sequence and content, the same from every tier. Without quotes."""
    return f"{generation}-{sequence}-{digest[:16]}"
