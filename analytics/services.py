"""Counting events as they come, and counting them again."""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta

from django.db import transaction
from django.utils import timezone

from analytics import record
from snapstate_project.events.models import Event, SubscriberCursor
from snapstate_project.events.services import KEPT

SUBSCRIBER = "analytics"
COUNTED = ("checkpoint.saved", "workflow.resumed", "workflow.erased")
BATCH = 5_000

type Progress = Callable[[int, int], None]
"""Told how many events are done, of how many."""


def count_events(events: list[Event]) -> None:
    record.count(events)


def rebuild(*, now: datetime | None = None, progress: Progress = lambda *_: None) -> date:
    """Count again, from the events there are, every day of which they are all there; the first such day.

    Relays pass the subscriber over meanwhile, and take it up where it stood.
    """
    since = first_whole_day(now or timezone.now())
    midnight = datetime(since.year, since.month, since.day, tzinfo=UTC)
    with transaction.atomic():
        SubscriberCursor.objects.get_or_create(name=SUBSCRIBER)
        cursor = SubscriberCursor.objects.select_for_update().get(name=SUBSCRIBER)
        passed = Event.objects.filter(id__lte=cursor.position)
        done, total = 0, passed.count()
        record.forget(since)
        progress(done, total)
        for batch in _batches(cursor.position):
            record.count([event for event in batch if event.type in COUNTED and event.at >= midnight], since=since)
            done += len(batch)
            progress(done, total)
        record.sweep()
    return since


def first_whole_day(now: datetime) -> date:
    """Events older than they are kept may be gone, those of the day after are not."""
    return (now - KEPT).astimezone(UTC).date() + timedelta(days=1)


def _batches(until: int) -> Iterator[list[Event]]:
    last = 0
    while batch := list(Event.objects.filter(id__gt=last, id__lte=until).order_by("id")[:BATCH]):
        yield batch
        last = batch[-1].pk
