"""When to try again: ten attempts over about three days, later if the receiver asks for it. Pure."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from random import SystemRandom

SCHEDULE = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
JITTER = (0.9, 1.1)
LONGEST_WAIT = timedelta(hours=24)
FAILING_TOO_LONG = timedelta(days=5)

uniform = SystemRandom().uniform


def next_attempt_at(tries: int, now: datetime, retry_after: str | None = None) -> datetime | None:
    """After `tries` failed attempts; None when that was the last one."""
    if tries > len(SCHEDULE):
        return None
    return now + max(SCHEDULE[tries - 1] * uniform(*JITTER), asked_for(retry_after, now))


def asked_for(retry_after: str | None, now: datetime) -> timedelta:
    """The wait that a Retry-After names (seconds or a date), within bounds; zero when it names none."""
    written = (retry_after or "").strip()
    if written.isascii() and written.isdigit():
        seconds = int(written[:9])
    else:
        try:
            moment = parsedate_to_datetime(written)
        except ValueError:
            return timedelta()
        seconds = int(((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now).total_seconds())
    return min(max(timedelta(seconds=seconds), timedelta()), LONGEST_WAIT)


def has_failed_too_long(failing_since: datetime | None, tries: int, now: datetime) -> bool:
    """Never at a first attempt: after a quiet week that is as likely a hiccup, and five seconds tell."""
    return failing_since is not None and tries > 1 and now - failing_since >= FAILING_TOO_LONG
