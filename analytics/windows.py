"""The days that a report is about: UTC, both ends included; as moments, half-open."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from snapstate_project.common.errors import ValidationFailed

DEFAULT_DAYS = 30
MOST_DAYS = 3_660


@dataclass(frozen=True, slots=True)
class Window:
    start: date
    end: date

    @property
    def begins(self) -> datetime:
        return datetime.combine(self.start, time(tzinfo=UTC))

    @property
    def ends(self) -> datetime:
        """The first moment that is no longer part of it."""
        return datetime.combine(self.end + timedelta(days=1), time(tzinfo=UTC))

    def days(self) -> Iterator[date]:
        for number in range((self.end - self.start).days + 1):
            yield self.start + timedelta(days=number)


def window_of(start: date | None, end: date | None, *, now: datetime) -> Window:
    """The last thirty days, today among them, where nothing else is asked for."""
    if end is not None and end > date.max - timedelta(days=1):
        raise ValidationFailed.at("end_date", "is the last date there is")
    end = end or now.astimezone(UTC).date()
    if start is None:
        start = end - timedelta(days=min(DEFAULT_DAYS - 1, (end - date.min).days))
    if start > end:
        raise ValidationFailed.at("start_date", f"must not be after {end}")
    if (end - start).days >= MOST_DAYS:
        raise ValidationFailed.at("start_date", f"must be at most {MOST_DAYS} days before the end")
    return Window(start, end)
