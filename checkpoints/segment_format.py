"""A segment's bytes: a JSON object a line, compressed with a long window; and its index, which Postgres keeps."""

import gzip
from collections.abc import Sequence
from hashlib import sha256

import msgspec
import zstandard

from checkpoints.content import Envelope, Status, Step, StepError, decode_envelope, encode_envelope

_LEVEL, _WINDOW_LOG = 12, 27  # 128 MiB: successive states far apart are still found to be alike
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Line(msgspec.Struct, kw_only=True, frozen=True):
    """One checkpoint in a segment. `metadata` and `state` are strings that hold the text as it was sent."""

    step: int
    sequence: int
    generation: int
    at: int
    digest: str
    guard: str
    label: str | None
    agent_id: str | None
    status: Status
    error: StepError | None
    metadata: str
    state: str


class IndexEntry(msgspec.Struct, array_like=True, frozen=True):
    """What Postgres keeps of a step in a segment: `at` in microseconds, `size` in bytes of state."""

    step: int
    sequence: int
    at: int
    size: int
    digest: bytes
    guard: str
    label: str | None


class Packed(msgspec.Struct, frozen=True):
    """A segment ready to go: the object's bytes, their SHA-256, and its index."""

    body: bytes
    sha256: bytes
    index: list[IndexEntry]


_encode_line = msgspec.json.Encoder().encode
_decode_line = msgspec.json.Decoder(Line).decode
_decode_index = msgspec.msgpack.Decoder(list[IndexEntry]).decode


def pack_segment(steps: Sequence[Step], compression: str) -> Packed:
    """One JSON object a line, in order of sequence. The same steps give the same bytes."""
    ordered = sorted(steps, key=lambda step: step.sequence)
    lines = b"".join(_encode_line(_line(step)) + b"\n" for step in ordered)
    body = gzip.compress(lines, mtime=0) if compression == "gzip" else _compressor().compress(lines)
    return Packed(body, sha256(body).digest(), [_index_entry(step) for step in ordered])


def _compressor() -> zstandard.ZstdCompressor:
    parameters = zstandard.ZstdCompressionParameters.from_level(
        _LEVEL, window_log=_WINDOW_LOG, enable_ldm=True, write_content_size=True, write_checksum=True
    )
    return zstandard.ZstdCompressor(compression_params=parameters)


def _line(step: Step) -> Line:
    envelope = decode_envelope(step.envelope)
    return Line(
        step=step.step,
        sequence=step.sequence,
        generation=step.generation,
        at=step.at,
        digest=step.digest,
        guard=step.guard,
        label=envelope.label,
        agent_id=envelope.agent_id,
        status=envelope.status,
        error=envelope.error,
        metadata=step.metadata.decode(),
        state=step.state.decode(),
    )


def _index_entry(step: Step) -> IndexEntry:
    digest, label = bytes.fromhex(step.digest), decode_envelope(step.envelope).label
    return IndexEntry(step.step, step.sequence, step.at, len(step.state), digest, step.guard, label)


def pack_index(entries: Sequence[IndexEntry]) -> bytes:
    return zstandard.compress(msgspec.msgpack.encode(list(entries)))


def unpack_index(packed: bytes) -> list[IndexEntry]:
    return _decode_index(zstandard.decompress(packed))


def unpack_segment(body: bytes) -> dict[int, Step]:
    """The steps of an object by sequence, whichever compression it was written with."""
    if body[:4] == _ZSTD_MAGIC:
        text = zstandard.ZstdDecompressor(max_window_size=1 << _WINDOW_LOG).decompress(body)
    else:
        text = gzip.decompress(body)
    return {step.sequence: step for step in map(_step, text.splitlines())}


def _step(text: bytes) -> Step:
    line = _decode_line(text)
    envelope = encode_envelope(Envelope(line.label, line.agent_id, line.status, line.error))
    return Step(
        generation=line.generation,
        sequence=line.sequence,
        step=line.step,
        at=line.at,
        digest=line.digest,
        guard=line.guard,
        envelope=envelope,
        metadata=line.metadata.encode(),
        state=line.state.encode(),
    )
