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
LONGEST_MEANT = timedelta(days=366)  # a receiver that asks for more is taken to be mistaken
FAILING_TOO_LONG = timedelta(days=5)

uniform = SystemRandom().uniform


def next_attempt_at(tries: int, now: datetime, retry_after: str | None = None) -> datetime | None:
    """After `tries` failed attempts; None when that was the last one."""
    if tries > len(SCHEDULE):
        return None
    return now + max(SCHEDULE[tries - 1] * uniform(*JITTER), asked_for(retry_after, now))


def asked_for(retry_after: str | None, now: datetime) -> timedelta:
    """The wait that a Retry-After names, within bounds; zero when it names none, or one that nobody can mean."""
    wait = wait_written((retry_after or "").strip(), now)
    return min(wait, LONGEST_WAIT) if timedelta() < wait <= LONGEST_MEANT else timedelta()


def wait_written(written: str, now: datetime) -> timedelta:
    """Seconds or a date, as a receiver wrote it: any text at all; zero when it is neither."""
    if not written.isascii():
        return timedelta()
    try:
        if written.isdigit():
            return timedelta(seconds=int(written))
        moment = parsedate_to_datetime(written)
    except (ValueError, OverflowError):  # numbers and dates too large to be any are OverflowErrors
        return timedelta()
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now


def has_failed_too_long(failing_since: datetime | None, tries: int, now: datetime) -> bool:
    """Never at a first attempt: after a quiet week that is as likely a hiccup, and five seconds tell."""
    return failing_since is not None and tries > 1 and now - failing_since >= FAILING_TOO_LONG
