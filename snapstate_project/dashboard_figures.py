"""What the index page tells of all accounts: sums that are kept anyway, and looks that are bounded; never a state.

What no rollup holds (workflows by status, storage by tier) is one pass over the workflows' rows, and is remembered for
half a minute.
"""

import time
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

from django.core.cache import cache
from django.db.models import Count, Q, Sum
from django_redis.exceptions import ConnectionInterrupted
from redis.exceptions import RedisError

from accounts.models import Account
from analytics.models import AgentDay, DailyActivity
from billing.revenue import estimated_revenue
from checkpoints import archive
from checkpoints.archive import ArchiveDown
from checkpoints.models import ArchiveProblem, Workflow
from snapstate_project.common.admin import ago
from snapstate_project.common.errors import RedisDown
from snapstate_project.events import queue, relay
from snapstate_project.events.models import Event, SubscriberCursor
from snapstate_project.events.services import lag_of
from snapstate_project.figures import bounded_count
from snapstate_project.operator_reads import ActivityEvent, count_statuses, happenings
from webhooks.models import Delivery, Endpoint

DAYS = 30
TOP = 8
RECENT = 10
REMEMBERED_SECONDS = 30
WITHOUT_SECONDS = 10.0
INTAKE_IS_BEHIND_SECONDS = 5.0
MANY = 10_000
UNITS = ("B", "KB", "MB", "GB", "TB")

type Tile = dict[str, Any]


class Remembered:
    """For half a minute, by all processes; while Redis is away each is asked for, and Redis is not waited for again."""

    without_until = 0.0

    def __call__[T](self, name: str, ask: Callable[[], T]) -> T:
        if time.monotonic() < self.without_until:
            return ask()
        try:
            found: Any = cache.get_or_set(f"dashboard:{name}", ask, REMEMBERED_SECONDS)
        except (ConnectionInterrupted, RedisError):
            self.without_until = time.monotonic() + WITHOUT_SECONDS
            return ask()
        return cast(T, found)


remembered = Remembered()


def days_until(today: date) -> list[date]:
    return [today - timedelta(days=DAYS - 1 - back) for back in range(DAYS)]


def by_day(today: date) -> dict[str, list[int]]:
    """Checkpoints, resumes and failures of each of the thirty days, in order."""
    days = days_until(today)
    names = ("checkpoints", "resumes", "failures")
    rows = DailyActivity.objects.filter(day__range=(days[0], today)).values("day")
    found: dict[date, Any] = {row["day"]: row for row in rows.annotate(**{f"{name}_": Sum(name) for name in names})}
    return {name: [int(found.get(day, {}).get(f"{name}_", 0)) for day in days] for name in names}


def storage() -> dict[str, int]:
    """Bytes of history as kept, compressed, by where they are."""
    is_cold = Q(evicted_at__isnull=False, evict_at__isnull=True)
    held = Workflow.objects.aggregate(
        warm=Sum("stored_bytes", filter=~is_cold), archive=Sum("stored_bytes", filter=is_cold)
    )
    return {tier: int(size or 0) for tier, size in held.items()}


def top_agents(today: date) -> list[tuple[str, int]]:
    """By the steps they wrote in thirty days, over all accounts."""
    days = AgentDay.objects.filter(day__range=(days_until(today)[0], today))
    found = days.order_by().values_list("agent_id").annotate(steps_=Sum("steps")).order_by("-steps_", "agent_id")
    return [(agent_id, int(steps)) for agent_id, steps in found[:TOP]]


def accounts(now: datetime) -> dict[str, int]:
    is_new = Q(created_at__gte=now - timedelta(days=DAYS))
    found: dict[str, int] = Account.objects.aggregate(
        total=Count("pk"), active=Count("pk", filter=Q(status=Account.Status.ACTIVE)), new=Count("pk", filter=is_new)
    )
    return found


def workflows(now: datetime) -> dict[str, int]:
    found = count_statuses(now)
    return {"active": found.active, "stalled": found.stalled, "completed": found.completed, "failed": found.failed}


def revenue(now: datetime) -> Decimal:
    return estimated_revenue(now=now)


def recent() -> list[ActivityEvent]:
    return list(happenings(list(Event.objects.order_by("-id")[:RECENT])))


def any_work() -> bool:
    """Whether anything was ever saved. The newest events go after a month, workflows only when they are erased."""
    return Workflow.objects.exists() or Event.objects.exists()


def first_account() -> Account | None:
    return Account.objects.order_by("created_at").first()


# --- Health: each tile says how it is in one word, and why ---


def tile(name: str, level: str, word: str, note: str, link: str = "") -> Tile:
    return {"name": name, "level": level, "word": word, "note": note, "link": link}


def health(now: datetime) -> Iterator[Tile]:
    yield from redis_and_intake()
    yield tile("Postgres", "success", "Up", "This page was read from it")
    yield archive_tile()
    yield subscribers(now)
    yield archive_backlog(now)
    yield webhook_backlog(now)


def redis_and_intake() -> list[Tile]:
    try:
        found = queue.figures()
    except RedisDown as down:
        return [tile("Redis", "danger", "Down", down.message), tile("Intake", "danger", "Unknown", "Redis is down")]
    limit = f" of {size(found.memory_limit)}" if found.memory_limit else ""
    redis = tile("Redis", "success", "Up", f"{size(found.memory_used)}{limit} used")
    waiting = f"{found.waiting:,} waiting"
    if found.lag_seconds > INTAKE_IS_BEHIND_SECONDS:
        return [redis, tile("Intake", "danger", f"{ago(found.lag_seconds)} behind", waiting, "events.Event")]
    return [redis, tile("Intake", "success", "Up to date", waiting, "events.Event")]


class ArchiveLook:
    """At most one look in ten seconds, for all that open the page."""

    until = 0.0
    answers = False

    def __call__(self) -> bool:
        if time.monotonic() >= self.until:
            self.answers = archive_answers()
            self.until = time.monotonic() + 10.0
        return self.answers


def archive_answers() -> bool:
    try:
        archive.threads.submit(archive.look).result(timeout=2.0)
    except (ArchiveDown, TimeoutError):
        return False
    return True


archive_look = ArchiveLook()


def archive_tile() -> Tile:
    if archive_look():
        return tile("Archive", "success", "Up", "Expired workflows can be read", "checkpoints.ArchiveSegment")
    return tile("Archive", "danger", "Down", "Hot and warm workflows are unaffected", "checkpoints.ArchiveSegment")


def subscribers(now: datetime) -> Tile:
    link = "events.SubscriberCursor"
    cursors = list(SubscriberCursor.objects.filter(name__in=relay.subscribers))
    failing = [cursor.name for cursor in cursors if cursor.failing_event_id]
    if failing:
        return tile("Subscribers", "danger", "Failing", ", ".join(failing), link)
    slowest = max(((lag_of(cursor, now=now).seconds, cursor.name) for cursor in cursors), default=(0.0, ""))
    if slowest[0] > INTAKE_IS_BEHIND_SECONDS * 12:
        return tile("Subscribers", "warning", f"{ago(slowest[0])} behind", slowest[1], link)
    return tile("Subscribers", "success", "Up to date", f"{len(cursors)} listen", link)


def archive_backlog(now: datetime) -> Tile:
    problems = bounded_count(ArchiveProblem.objects.all())
    if problems:
        return tile(
            "To archive", "danger", f"{problems:,} set aside", "See their reasons", "checkpoints.ArchiveProblem"
        )
    due = bounded_count(Workflow.objects.filter(archive_at__lte=now))
    word = f"{counted(due)} due" if due else "Nothing due"
    return tile("To archive", "info" if due else "success", word, "Moved once a minute", "checkpoints.ArchiveSegment")


def webhook_backlog(now: datetime) -> Tile:
    due = bounded_count(Delivery.objects.filter(next_attempt_at__lte=now, endpoint__slow=False))
    failing = Endpoint.objects.filter(status=Endpoint.Status.ACTIVE, failing_since__isnull=False).count()
    note = f"{failing:,} endpoint{'' if failing == 1 else 's'} failing" if failing else "No endpoint fails"
    level = "warning" if failing else "info" if due else "success"
    return tile("To deliver", level, f"{counted(due)} due" if due else "Nothing due", note, "webhooks.Delivery")


def counted(count: int) -> str:
    return f"{count:,}" if count <= MANY else f"over {MANY:,}"


def unit_of(size: float) -> tuple[str, int]:
    """The largest unit that it has at least one of, and its bytes."""
    power = min(max(int(size).bit_length() - 1, 0) // 10, len(UNITS) - 1)
    return UNITS[power], 2 ** (10 * power)


def size(count: float) -> str:
    unit, divisor = unit_of(count)
    return (
        f"{count / divisor:,.1f} {unit}" if divisor > 1 and count / divisor < 100 else f"{count / divisor:,.0f} {unit}"
    )
