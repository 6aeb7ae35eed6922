"""Events go out to each subscriber exactly once: its work and its cursor commit together."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from django.db import connection, transaction
from django.db.models import Count, Exists, F, Max, OuterRef
from django.db.models.functions import Coalesce, Now

from snapstate_project.common.outages import is_postgres_outage
from snapstate_project.events.catalogue import CATALOGUE
from snapstate_project.events.models import Event, EventQuerySet, SubscriberCursor

BATCH = 1_000
TIMEOUT = "10s"
SINGLY_SECONDS = 10.0
POLL_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 15.0

type Handle = Callable[[list[Event]], None]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Subscriber:
    name: str
    types: frozenset[str]
    handle: Handle
    last: bool = False


class EventRefused(Exception):
    """A subscriber raised; `event_id` is the first event of those it was given, the cause is what it raised."""

    def __init__(self, event_id: int) -> None:
        super().__init__(event_id)
        self.event_id = event_id


subscribers: dict[str, Subscriber] = {}


def subscribe(name: str, *types: str, last: bool = False) -> Callable[[Handle], Handle]:
    """Register a function of list[Event] (in id order) under a name that is its cursor's for ever.

    It runs inside the relay's transaction: no effect outside Postgres, no commit of its own. One that is `last` hears
    of an event when all others are past it.
    """
    if unknown := set(types) - set(CATALOGUE):
        raise ValueError(f"subscriber {name!r} asks for events that the catalogue does not list: {sorted(unknown)}")

    def register(handle: Handle) -> Handle:
        if name in subscribers:
            raise ValueError(f"there is already a subscriber {name!r}")
        subscribers[name] = Subscriber(name, frozenset(types), handle, last)
        return handle

    return register


def unsubscribe(name: str) -> None:
    """Forget a subscriber; its cursor stays where it stands."""
    subscribers.pop(name, None)


def relay_once(name: str, *, limit: int = BATCH) -> int:
    """Take a subscriber past at most `limit` events; how many the cursor passed.

    0: nothing to do, or another relay holds the cursor, or the next event makes the subscriber fail.
    """
    subscriber = subscribers[name]
    SubscriberCursor.objects.get_or_create(name=name)  # committed by itself: a failure at the first event keeps it
    try:
        return _pass(subscriber, limit)
    except EventRefused as refused:
        log.warning("subscriber_failed", subscriber=name, event_id=refused.event_id, exc_info=refused.__cause__)
    return _pass_singly(subscriber, limit)


def run_relays(stop: threading.Event) -> None:
    """A thread and a connection per subscriber, until `stop` is set; returns when each has finished its batch."""
    threads = [
        threading.Thread(target=_keep_relaying, args=(name, stop), name=f"relay-{name}", daemon=True)
        for name in subscribers
    ]
    for thread in threads:
        thread.start()
    stop.wait()
    for thread in threads:
        thread.join(timeout=SINGLY_SECONDS)


def _pass(subscriber: Subscriber, limit: int) -> int:
    """One transaction: lock the cursor, read, hand over, move the cursor."""
    with transaction.atomic():
        _limit_waiting()
        cursor = SubscriberCursor.objects.select_for_update(skip_locked=True).filter(name=subscriber.name).first()
        if cursor is None:
            return 0
        after = _within_reach(subscriber).filter(id__gt=cursor.position)
        span = after.order_by("id").values("id")[:limit].aggregate(count=Count("id"), last=Max("id"))
        if not span["count"]:
            return 0
        _hand_over(subscriber, list(after.filter(id__lte=span["last"], type__in=subscriber.types).order_by("id")))
        _move(cursor, span["last"])
        return int(span["count"])


def _within_reach(subscriber: Subscriber) -> EventQuerySet:
    if not subscriber.last:
        return Event.objects.all()
    others = [other.name for other in subscribers.values() if not other.last]
    positions = SubscriberCursor.objects.filter(name__in=others).values_list("position", flat=True)
    return Event.objects.filter(id__lte=min(positions) if len(positions) == len(others) else 0)


def _pass_singly(subscriber: Subscriber, limit: int) -> int:
    """The same events again, each in its own transaction, so that the cursor comes to stand at the culprit."""
    passed, until = 0, time.monotonic() + SINGLY_SECONDS
    try:
        while passed < limit and time.monotonic() < until and _pass(subscriber, 1):
            passed += 1
    except EventRefused as refused:
        _note_failure(subscriber.name, refused)
    return passed


def _limit_waiting() -> None:
    """For this transaction only: neither a slow statement nor somebody's lock keeps the cursor for long."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)",
            [TIMEOUT, TIMEOUT],
        )


def _hand_over(subscriber: Subscriber, events: list[Event]) -> None:
    if not events:
        return
    try:
        subscriber.handle(events)
        # Deferred constraints fail here, where the culprit can still be named, and not at COMMIT.
        connection.check_constraints()
    except Exception as error:
        raise EventRefused(events[0].id) from error


def _move(cursor: SubscriberCursor, position: int) -> None:
    cursor.position = position
    cursor.failing_event_id, cursor.failing_error, cursor.failing_since, cursor.failures = None, "", None, 0
    cursor.save()


def _note_failure(name: str, refused: EventRefused) -> None:
    """Keep id and error for operators, unless somebody passed or skipped the event meanwhile."""
    with transaction.atomic():
        _limit_waiting()
        SubscriberCursor.objects.filter(name=name, position__lt=refused.event_id).update(
            failing_event_id=refused.event_id,
            failing_error=_storable(f"{type(refused.__cause__).__name__}: {refused.__cause__}"),
            failing_since=Coalesce(F("failing_since"), Now()),
            failures=F("failures") + 1,
            updated_at=Now(),
        )


def _storable(text: str) -> str:
    """Postgres takes neither NUL nor lone surrogates, and an error message may quote both."""
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\0")[:2_000]


def _keep_relaying(name: str, stop: threading.Event) -> None:
    pause = 0.0
    while not stop.wait(pause):
        try:
            pause = _turn(name)
            continue
        except Exception as error:
            if is_postgres_outage(error):
                log.warning("relay_interrupted", subscriber=name, error=str(error))
            else:
                log.exception("relay_failed", subscriber=name)
        connection.close()  # the next turn opens a new one
        pause = min(max(2 * pause, 1.0), LONGEST_PAUSE_SECONDS)
    connection.close()


def _turn(name: str) -> float:
    """Relay what is there; seconds to wait until the next turn, longer each time while the subscriber fails."""
    news = Exists(Event.objects.filter(id__gt=OuterRef("position")))
    state = SubscriberCursor.objects.filter(name=name).values_list(news, "failures").first()
    has_news, failures = state or (True, 0)
    if has_news and relay_once(name) >= BATCH:
        return 0.0
    return min(POLL_SECONDS * float(2 ** min(failures, 10)), LONGEST_PAUSE_SECONDS)
