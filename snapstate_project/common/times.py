"""Times leave as ISO-8601 in UTC with milliseconds and `Z`."""

from datetime import UTC, datetime
from functools import lru_cache


def iso(moment: int | datetime) -> str:
    """Milliseconds since 1970, or an aware datetime (cut, not rounded, to the millisecond)."""
    if isinstance(moment, datetime):
        return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"
    seconds, milliseconds = divmod(moment, 1000)
    return f"{to_the_second(seconds)}.{milliseconds:03d}Z"


@lru_cache(maxsize=4096)
def to_the_second(seconds: int) -> str:
    """Kept, for most times in an answer are of a second just seen."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]
