"""The cold tier: segments in storages["archive"]. An object is written once, read back, and never rewritten."""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from hashlib import sha256
from uuid import UUID

import structlog
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from checkpoints.content import Step
from checkpoints.segment_format import Packed, unpack_segment
from snapstate_project.common.errors import ServiceUnavailable
from snapstate_project.common.threads import Threads

CACHE_BYTES = 48 * 1_048_576
READS_AT_ONCE = 4

log = structlog.get_logger(__name__)


class ArchiveDown(ServiceUnavailable):
    default_message = "The archive cannot be reached; nothing is lost, try again."

    def __init__(self, message: str = "", *, retry_after: int = 5) -> None:
        super().__init__(message, retry_after=retry_after)


class SegmentUnreadable(ArchiveDown):
    """The archive answers, and it is this object that is missing or damaged."""

    default_message = "A part of this workflow in the archive cannot be read; the operators' log says which."


class ArchiveThreads(Threads):
    """Those in which requests wait for the archive; the passes of the worker wait by themselves."""

    tier = "Archive"
    timeout_setting = "ARCHIVE_TIMEOUT_SECONDS"
    down = ArchiveDown

    def is_outage(self, error: Exception) -> bool | None:
        return not isinstance(error, SegmentUnreadable) if isinstance(error, ArchiveDown) else None

    def look(self) -> None:
        look()


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


def segment(key: str) -> dict[int, Step]:
    """By sequence, what is in it. Raises SegmentUnreadable when the object is at fault, else ArchiveDown."""
    try:
        return unpack_segment(read(key))
    except ArchiveDown as down:
        if isinstance(down.__cause__, FileNotFoundError):
            raise unreadable(key, down.__cause__) from down.__cause__
        raise
    except Exception as error:
        raise unreadable(key, error) from error


def unreadable(key: str, cause: Exception) -> SegmentUnreadable:
    log.error("segment_unreadable", key=key, error=repr(cause))
    return SegmentUnreadable()


def delete(keys: Iterable[str]) -> None:
    """Deleting what is not there is no failure."""
    for key in keys:
        _guarded(lambda key=key: storages["archive"].delete(key))  # type: ignore[misc]


def keys_of(account_id: UUID, digest: bytes, *, below_generation: int) -> list[str]:
    """The objects of a workflow that are older than a generation, whatever Postgres knows of them.

    A name that is none of ours, as file managers and copying tools leave them, is not looked at.
    """
    folder = prefix(account_id, digest)
    try:
        _, names = storages["archive"].listdir(folder)
    except FileNotFoundError:
        return []
    except Exception as error:
        raise ArchiveDown from error
    generations = ((name, re.match(r"(\d+)-", name)) for name in names)
    return [f"{folder}/{name}" for name, found in generations if found and int(found[1]) < below_generation]


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
        steps = segment(key)
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
