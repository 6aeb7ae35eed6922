"""/health and /ready tell what is, and what is not a reason to send traffic elsewhere."""

import asyncio
import json
import os
import re
import signal

import pytest
from django.conf import settings
from django.test import override_settings

from snapstate_project import checks, health, shutdown
from snapstate_project.common import redis as common_redis


@pytest.fixture(autouse=True)
def fresh_probes():
    yield
    for probe in (health.redis, health.postgres, health.archive, health.lag):
        probe.forget()


def ask(view):
    """The view on a loop of its own, and so with a link of its own."""

    async def on_a_loop():
        for probe in (health.redis, health.postgres, health.archive, health.lag):
            probe.forget()
        request = type("Request", (), {"META": {"QUERY_STRING": ""}, "method": "GET"})()
        response = await view.as_view()(request)
        return response.status_code, json.loads(response.content)

    return asyncio.run(on_a_loop())


def test_health_tells_of_every_tier(anonymous, intake):
    intake()  # what other tests left in the queue is old by now
    for probe in (health.redis, health.postgres, health.archive, health.lag):
        probe.forget()
    response = anonymous.get("/health")
    said = response.json()
    assert response.status_code == 200
    assert said["status"] == "ok"
    assert said["redis"] == said["postgres"] == said["r2"] == "connected"
    assert said["version"] == settings.VERSION
    assert said["intake_lag_seconds"] >= 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", said["timestamp"])


def test_ready_when_everything_is(anonymous):
    response = anonymous.get("/ready")
    assert response.status_code == 200
    assert response.json() == {"status": "ready", "redis": "connected", "postgres": "connected"}


def test_without_redis_neither_healthy_nor_ready(server):
    with override_settings(REDIS_URL=server.url):
        server.stop()
        common_redis.client.cache_clear()
        status, said = ask(health.HealthView)
        assert (status, said["status"], said["redis"], said["intake_lag_seconds"]) == (
            503,
            "degraded",
            "disconnected",
            None,
        )
        assert ask(health.ReadyView)[0] == 503
    common_redis.client.cache_clear()


def test_a_postgres_lost_after_the_start_is_unhealthy_and_still_ready(monkeypatch):
    assert ask(health.ReadyView)[0] == 200
    monkeypatch.setattr(health.postgres, "look", refuse)
    assert ask(health.HealthView)[0] == 503
    assert ask(health.ReadyView) == (200, {"status": "ready", "redis": "connected", "postgres": "disconnected"})


def test_an_archive_that_is_down_is_degraded_but_healthy(monkeypatch):
    monkeypatch.setattr(health.archive, "look", refuse)
    status, said = ask(health.HealthView)
    assert (status, said["status"], said["r2"]) == (200, "degraded", "disconnected")


def test_a_lag_is_degraded_but_healthy(monkeypatch):
    async def behind():
        return 60.0

    monkeypatch.setattr(health.lag, "look", behind)
    status, said = ask(health.HealthView)
    assert (status, said["status"], said["intake_lag_seconds"]) == (200, "degraded", 60.0)


def test_probes_are_remembered(anonymous):
    times = {anonymous.get("/health").status_code for _ in range(20)}
    task = health.redis.task
    anonymous.get("/health")
    assert times == {200}
    assert health.redis.task is task


def test_on_sigterm_no_longer_ready():
    previous = signal.getsignal(signal.SIGTERM)
    heard = []
    signal.signal(signal.SIGTERM, lambda number, _frame: heard.append(number))
    try:
        shutdown.watch_for_shutdown()
        os.kill(os.getpid(), signal.SIGTERM)
        assert ask(health.ReadyView)[0] == 503
        assert heard == [signal.SIGTERM]
    finally:
        shutdown.stopping.clear()
        signal.signal(signal.SIGTERM, previous)


def test_default_secrets_are_refused_unless_debugging():
    with override_settings(ADMIN_SECRET="insecure-admin-secret"):
        assert [error.id for error in checks.secrets_are_set(None)] == ["snapstate.admin_secret"]
        with pytest.raises(Exception, match="ADMIN_SECRET"):
            checks.refuse_default_secrets()
        with override_settings(DEBUG=True):
            checks.refuse_default_secrets()


async def refuse():
    raise ConnectionError
