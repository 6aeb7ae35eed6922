"""Times leave as ISO-8601 in UTC with milliseconds and `Z`."""

from datetime import UTC, datetime


def iso(moment: int | datetime) -> str:
    """Milliseconds since 1970, or an aware datetime (cut, not rounded, to the millisecond)."""
    if isinstance(moment, datetime):
        return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:23] + "Z"
    seconds, milliseconds = divmod(moment, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC).isoformat()[:19]}.{milliseconds:03d}Z"
