"""Days and months are those of UTC, half-open, whatever zone the server is in."""

from datetime import UTC, date, datetime, timedelta


def day_of(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def month_of(moment: datetime) -> tuple[datetime, datetime]:
    """[start, end) of the UTC month around a moment."""
    first = day_of(moment).replace(day=1)
    return start_of(first), start_of(month_after(first))


def month_after(month: date) -> date:
    following = month.year * 12 + month.month
    return date(following // 12, following % 12 + 1, 1)


def month_before(month: date) -> date:
    return (month.replace(day=1) - timedelta(days=1)).replace(day=1)


def days_in(month: date) -> int:
    return (month_after(month) - month).days


def start_of(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
