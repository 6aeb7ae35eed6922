"""What operators and beat do with events: skip one that fails, see who is behind, drop what is old."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db.models import F
from django.utils import timezone

from snapstate_project.events import relay
from snapstate_project.events.models import Event, SubscriberCursor

KEPT = timedelta(days=30)
ALERT_AFTER = timedelta(hours=1)
COUNTED_AT_MOST = 10_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a cursor is behind: events (counted up to COUNTED_AT_MOST + 1) and the age of the first of them."""

    events: int
    seconds: float

    @property
    def is_alert(self) -> bool:
        return self.seconds > ALERT_AFTER.total_seconds()


def lag_of(cursor: SubscriberCursor, *, now: datetime | None = None) -> Lag:
    ahead = Event.objects.filter(id__gt=cursor.position).order_by("id")
    first = ahead.values_list("at", flat=True).first()
    if first is None:
        return Lag(0, 0.0)
    count = ahead.values("id")[: COUNTED_AT_MOST + 1].count()
    return Lag(count, max(((now or timezone.now()) - first).total_seconds(), 0.0))


def has_heard(name: str, account_id: UUID) -> bool:
    """Whether a subscriber is past all that an account has done."""
    position = SubscriberCursor.objects.filter(name=name).values_list("position", flat=True).first() or 0
    return not Event.objects.filter(id__gt=position, account_id=account_id).exists()


def skip_event(name: str, event_id: int) -> bool:
    """Move a cursor past the event its subscriber fails at; False when it no longer fails at this one."""
    skipped = SubscriberCursor.objects.filter(name=name, failing_event_id=event_id, position__lt=event_id).update(
        position=F("failing_event_id"),
        failing_event_id=None,
        failing_error="",
        failing_since=None,
        failures=0,
        updated_at=timezone.now(),
    )
    if skipped:
        log.warning("event_skipped", subscriber=name, event_id=event_id)
    return bool(skipped)


def prune_events(*, now: datetime | None = None, batch: int = 10_000) -> int:
    """Delete events older than 30 days, passed or not, from the lowest id upwards; how many went."""
    now = now or timezone.now()
    for cursor in SubscriberCursor.objects.filter(name__in=relay.subscribers):
        if (lag := lag_of(cursor, now=now)).is_alert:
            log.error("subscriber_behind", subscriber=cursor.name, events=lag.events, seconds=int(lag.seconds))
    pruned = 0
    while gone := _prune_batch(now - KEPT, batch):
        pruned += gone
    return pruned


def _prune_batch(before: datetime, batch: int) -> int:
    # The lowest ids first, whatever their time: no index on the time is needed, and each pass is short.
    lowest = Event.objects.order_by("id").values("id")[:batch]
    return Event.objects.filter(id__in=lowest, at__lt=before).delete()[0]
