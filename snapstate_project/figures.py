"""What the tiers say of themselves when /metrics asks; each look is bounded, whatever the tables hold.

A tier that cannot be asked gives no figures but `snapstate_tier_up`, which is 0 then.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, models, transaction
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric

from checkpoints.models import ArchiveProblem, Erasure, Workflow
from snapstate_project import ticks
from snapstate_project.events import queue, relay
from snapstate_project.events.models import SubscriberCursor
from snapstate_project.events.services import lag_of
from webhooks.models import Delivery

COUNTED_AT_MOST = 10_000
LONGEST_LOOK = "2s"


def gauge(name: str, told: str, value: float) -> Metric:
    return GaugeMetricFamily(f"snapstate_{name}", told, value=value)


def of_this_server(tiers: dict[str, bool]) -> Iterator[Metric]:
    up = GaugeMetricFamily("snapstate_tier_up", "Whether it answers, as of the last ten seconds.", labels=["tier"])
    for tier, answers in tiers.items():
        up.add_metric([tier], float(answers))
    yield up
    info = GaugeMetricFamily("snapstate_build_info", "Always 1.", labels=["version"])
    info.add_metric([settings.VERSION], 1.0)
    yield info


def of_redis() -> Iterable[Metric]:
    found = queue.figures()
    told = "When beat had this task begun last; 0 when it is not known."
    ticked = GaugeMetricFamily("snapstate_tick_timestamp_seconds", told, labels=["task"])
    for task, at in ticks.last_ticks().items():
        ticked.add_metric([task], at)
    return [
        ticked,
        gauge("queue_entries", "Entries in Redis that intake has not taken.", found.waiting),
        gauge("intake_lag_seconds", "Age of the oldest of them.", found.lag_seconds),
        gauge("intake_seen_timestamp_seconds", "When intake was last well; 0 when it is not.", found.intake_well_at),
        gauge("redis_memory_used_bytes", "Memory that the store uses.", found.memory_used),
        gauge("redis_memory_limit_bytes", "Memory that it may use; 0 without a limit.", found.memory_limit),
    ]


def of_postgres() -> Iterable[Metric]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [LONGEST_LOOK])
        cursor.execute("SELECT pg_database_size(current_database())")
        size = gauge("postgres_database_bytes", "Size of the database.", cursor.fetchone()[0])
        return [size, *of_subscribers(), *of_archive(), *of_erasures(), *of_webhooks()]


def of_subscribers() -> Iterable[Metric]:
    labels = ["subscriber"]
    events = GaugeMetricFamily("snapstate_subscriber_lag_events", "Events ahead, 10,001 at most.", labels=labels)
    seconds = GaugeMetricFamily("snapstate_subscriber_lag_seconds", "Age of the first of them.", labels=labels)
    failures = GaugeMetricFamily("snapstate_subscriber_failures", "Times it has failed at that one.", labels=labels)
    for cursor in SubscriberCursor.objects.filter(name__in=relay.subscribers):
        lag = lag_of(cursor)
        events.add_metric([cursor.name], lag.events)
        seconds.add_metric([cursor.name], lag.seconds)
        failures.add_metric([cursor.name], cursor.failures)
    return [events, seconds, failures]


def of_archive() -> Iterable[Metric]:
    """What is pinned waits for nobody, though it keeps the time at which it would have left."""
    now, free = timezone.now(), Workflow.objects.filter(pinned=False)
    due = free.filter(archive_at__lte=now).order_by("archive_at")
    leaving = free.filter(evict_at__lte=now).order_by("evict_at")
    return [
        *backlog("archive_due", "Workflows due for the archive", due, "archive_at"),
        *backlog("eviction_due", "Expired workflows that have yet to leave", leaving, "evict_at"),
        gauge("archive_problems", "Workflows set aside; 10,001 at most.", bounded_count(ArchiveProblem.objects.all())),
    ]


def of_erasures() -> Iterable[Metric]:
    """Unfinished ones among those that are looked at once more, which they are within the hour."""
    unfinished = Erasure.objects.filter(swept_at__isnull=True, objects_erased_at__isnull=True).order_by("created_at")
    return backlog("erasures_open", "Erasures not finished", unfinished, "created_at")


def of_webhooks() -> Iterable[Metric]:
    """What waits for an endpoint that takes long waits for that endpoint, and is no fault of ours."""
    due = Delivery.objects.filter(next_attempt_at__lte=timezone.now(), endpoint__slow=False)
    told = "Deliveries due and not under way, to endpoints that answer quickly"
    return backlog("webhooks_due", told, due.order_by("next_attempt_at"), "next_attempt_at")


def backlog(name: str, told: str, rows: "models.QuerySet[Any]", since: str) -> Iterable[Metric]:
    """How many, counted up to a bound, and for how long the first has waited."""
    first: datetime | None = rows.values_list(since, flat=True).first()
    waited = max(time.time() - first.timestamp(), 0.0) if first else 0.0
    return [
        gauge(name, f"{told}; 10,001 at most.", bounded_count(rows) if first else 0),
        gauge(f"{name}_oldest_seconds", "For how long the first of them has waited.", waited),
    ]


def bounded_count(rows: "models.QuerySet[Any]") -> int:
    return rows.values("pk")[: COUNTED_AT_MOST + 1].count()
