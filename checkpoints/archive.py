"""The cold tier: segments in storages["archive"]. An object is written once, read back, and never rewritten."""

import gzip
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from uuid import UUID

import msgspec
import zstandard
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from checkpoints.content import Envelope, Status, Step, StepError, decode_envelope, encode_envelope
from snapstate_project.common.errors import ServiceUnavailable
from snapstate_project.common.threads import Threads

CACHE_BYTES = 48 * 1_048_576
READS_AT_ONCE = 4
_LEVEL, _WINDOW_LOG = 12, 27  # 128 MiB: successive states far apart are still found to be alike
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class ArchiveDown(ServiceUnavailable):
    default_message = "The archive cannot be reached; nothing is lost, try again."

    def __init__(self, message: str = "", *, retry_after: int = 5) -> None:
        super().__init__(message, retry_after=retry_after)


class ArchiveThreads(Threads):
    """Those in which requests wait for the archive; the passes of the worker wait by themselves."""

    tier = "Archive"
    timeout_setting = "ARCHIVE_TIMEOUT_SECONDS"
    down = ArchiveDown

    def is_outage(self, error: Exception) -> bool | None:
        """An object that is missing was looked for in an archive that answers."""
        if isinstance(error, ArchiveDown):
            return not isinstance(error.__cause__, FileNotFoundError)
        return None

    def look(self) -> None:
        look()


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


def prefix(account_id: UUID, digest: bytes) -> str:
    return f"archives/{account_id.hex}/{digest.hex()}"


def segment_key(account_id: UUID, digest: bytes, generation: int, first: int, last: int) -> str:
    ending = "gz" if settings.ARCHIVE_COMPRESSION == "gzip" else "zst"
    return f"{prefix(account_id, digest)}/{generation}-{first}-{last}.jsonl.{ending}"


def write(key: str, packed: Packed) -> None:
    """Upload and read back. Raises ArchiveDown, also when what came back is not what was sent."""
    _guarded(lambda: storages["archive"].save(key, ContentFile(packed.body)))
    if sha256(read(key)).digest() != packed.sha256:
        raise ArchiveDown


def read(key: str) -> bytes:
    def whole() -> bytes:
        with storages["archive"].open(key) as file:
            return bytes(file.read())

    return _guarded(whole)


def delete(keys: Iterable[str]) -> None:
    """Deleting what is not there is no failure."""
    for key in keys:
        _guarded(lambda key=key: storages["archive"].delete(key))  # type: ignore[misc]


def keys_of(account_id: UUID, digest: bytes, *, below_generation: int) -> list[str]:
    """The objects of a workflow that are older than a generation, whatever Postgres knows of them."""
    folder = prefix(account_id, digest)
    try:
        _, names = storages["archive"].listdir(folder)
    except FileNotFoundError:
        return []
    except Exception as error:
        raise ArchiveDown from error
    return [f"{folder}/{name}" for name in names if int(name.partition("-")[0]) < below_generation]


def look() -> None:
    """Raises ArchiveDown unless the archive answers. That there is no such folder is an answer, but not no bucket."""
    try:
        storages["archive"].listdir("health")
    except FileNotFoundError:
        return
    except Exception as error:
        raise ArchiveDown from error


def _guarded[T](call: Callable[[], T]) -> T:
    try:
        return call()
    except Exception as error:
        raise ArchiveDown from error


class SegmentCache:
    """Segments read lately, decoded, so that a replay's next page does not fetch them again."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.bytes = 0
        self.lock = threading.Lock()
        self.segments: OrderedDict[str, tuple[int, dict[int, Step]]] = OrderedDict()

    def steps(self, key: str) -> dict[int, Step]:
        with self.lock:
            if key in self.segments:
                self.segments.move_to_end(key)
                return self.segments[key][1]
        body = read(key)
        steps = _guarded(lambda: unpack_segment(body))
        self._keep(key, steps)
        return steps

    def _keep(self, key: str, steps: dict[int, Step]) -> None:
        size = sum(len(step.state) for step in steps.values())
        with self.lock:
            if size > self.most_bytes or key in self.segments:
                return
            self.segments[key] = size, steps
            self.bytes += size
            while self.bytes > self.most_bytes:
                self.bytes -= self.segments.popitem(last=False)[1][0]


cache = SegmentCache(CACHE_BYTES)
threads = ArchiveThreads(READS_AT_ONCE)
