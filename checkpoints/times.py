"""Microseconds since the epoch, as Redis keeps time, and Postgres' datetimes."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SECOND = 1_000_000


def moment(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def microseconds(at: datetime) -> int:
    return (at - EPOCH) // MICROSECOND
