"""Whether the tiers answer: /health for people and monitors, /ready for whoever sends us traffic."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers

from checkpoints import archive as archive_tier
from snapstate_project.common.api import HotAPIView, iso, json_response, query
from snapstate_project.common.redis import link
from snapstate_project.common.threads import in_thread
from snapstate_project.events import queue
from snapstate_project.shutdown import stopping

REMEMBERED_SECONDS = 10.0
PROBE_SECONDS = 3.0
LAG_IS_NORMAL_SECONDS = 5.0
STARTED = time.monotonic()


class Probe[T]:
    """One look at a time, remembered for a while; `otherwise` when it fails or takes too long."""

    def __init__(self, look: Callable[[], Awaitable[T]], otherwise: T) -> None:
        self.look = look
        self.otherwise = otherwise
        self.forget()

    def forget(self) -> None:
        self.began = -REMEMBERED_SECONDS
        self.task: asyncio.Task[T] | None = None

    async def __call__(self) -> T:
        now = time.monotonic()
        if self.task is None or (self.task.done() and now - self.began >= REMEMBERED_SECONDS):
            self.began, self.task = now, asyncio.create_task(self.try_to_look())
        return await asyncio.shield(self.task)

    async def try_to_look(self) -> T:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                return await self.look()
        except Exception:  # noqa: BLE001 (whatever goes wrong, the tier is not there)
            return self.otherwise


async def redis_answers() -> bool:
    return bool(await link().execute("PING"))


async def postgres_answers() -> bool:
    return await in_thread(select_one)


async def archive_answers() -> bool:
    await archive_tier.threads.run(archive_tier.look)
    return True


async def measure_lag() -> float | None:
    return round(await asyncio.to_thread(queue.lag_seconds), 3)  # no thread of Postgres: this is Redis's work


def select_one() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return bool(cursor.fetchone() == (1,))


redis = Probe(redis_answers, otherwise=False)
postgres = Probe(postgres_answers, otherwise=False)
archive = Probe(archive_answers, otherwise=False)
lag = Probe(measure_lag, otherwise=None)


@extend_schema_field({"type": "string", "title": "TierConnection", "enum": ["connected", "disconnected"]})
class Connection(serializers.Field[str, str, str, str]):
    pass


@extend_schema_field({"type": "string", "title": "HealthStatus", "enum": ["ok", "degraded"]})
class HealthStatus(serializers.Field[str, str, str, str]):
    pass


@extend_schema_field({"type": "string", "title": "ReadinessStatus", "enum": ["ready", "not_ready"]})
class Readiness(serializers.Field[str, str, str, str]):
    pass


class HealthSerializer(serializers.Serializer[Any]):
    status = HealthStatus()
    version = serializers.CharField()
    uptime_seconds = serializers.IntegerField()
    redis = Connection()
    postgres = Connection()
    r2 = Connection()
    intake_lag_seconds = serializers.FloatField(allow_null=True)
    timestamp = serializers.DateTimeField()


class ReadySerializer(serializers.Serializer[Any]):
    status = Readiness()
    redis = Connection()
    postgres = Connection()


class OpenView(HotAPIView):
    authentication_classes = []
    permission_classes = []
    throttle_classes = []


class HealthView(OpenView):
    @extend_schema(operation_id="getHealth", tags=["Health"], responses={200: HealthSerializer, 503: HealthSerializer})
    async def get(self, request: HttpRequest) -> HttpResponse:
        """How every tier is, as of the last ten seconds. 503 while Redis or Postgres is down."""
        query(request, {})
        redis_up, postgres_up, r2_up, lag_now = await asyncio.gather(redis(), postgres(), archive(), lag())
        well = redis_up and postgres_up and r2_up and lag_now is not None and lag_now <= LAG_IS_NORMAL_SECONDS
        body = {
            "status": "ok" if well else "degraded",
            "version": settings.VERSION,
            "uptime_seconds": int(time.monotonic() - STARTED),
            "redis": word(redis_up),
            "postgres": word(postgres_up),
            "r2": word(r2_up),
            "intake_lag_seconds": lag_now,
            "timestamp": iso(datetime.now(UTC)),
        }
        return json_response(body, status=200 if redis_up and postgres_up else 503)


class ReadyView(OpenView):
    @extend_schema(operation_id="getReadiness", tags=["Health"], responses={200: ReadySerializer, 503: ReadySerializer})
    async def get(self, request: HttpRequest) -> HttpResponse:
        """Whether to send traffic here. A Postgres outage after the start shows, and is no reason not to."""
        query(request, {})
        redis_up, postgres_up, prepared = await asyncio.gather(Probe(redis_answers, False)(), postgres(), migrated())
        ready = redis_up and prepared and not stopping.is_set()
        body = {
            "status": "ready" if ready else "not_ready",
            "redis": word(redis_up),
            "postgres": word(postgres_up),
        }
        return json_response(body, status=200 if ready else 503)


def word(up: bool) -> str:
    return "connected" if up else "disconnected"


prepared = threading.Event()


async def migrated() -> bool:
    """Postgres was reached and had every migration: once true, true until this process ends."""
    if not prepared.is_set() and await Probe(lambda: in_thread(nothing_pending), False)():
        prepared.set()
    return prepared.is_set()


def nothing_pending() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())
