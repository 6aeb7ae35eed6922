"""Hostile inputs, tiers: one that is down, full or slow is 503, holds back nobody, and comes back by itself."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import redis as redis_py
from django.db import connection
from django.test import override_settings

from accounts import services
from accounts.models import Account
from checkpoints.models import Workflow
from snapstate_project import health
from snapstate_project.dev.process import wait_until
from snapstate_project.events import intake as taking
from snapstate_project.events import relay
from tests import environment
from tests.checkpoints.racing import writes
from tests.events.steps import at_once, session, subscribers
from tests.hostile.conftest import caller, expire_all
from tests.hostile.reading import error_of, save, saved, states, workflow
from tests.hostile.test_order import head_of, n, steps

Move = Callable[[], None]
BLACK_HOLE = {"archive": {"BACKEND": "tests.hostile.black_hole.BlackHole"}}


def test_a_subscriber_that_raises_and_one_that_waits_hold_back_nobody(
    api: httpx.Client, account: Account, wf: str, intake: Move, redis: redis_py.Redis
) -> None:
    intake()
    before = writes(account.pk)
    with subscribers() as subscribe, session() as holder:
        failing = subscribe(lambda _: 1 / 0, "checkpoint.saved")
        waiting = subscribe(lambda _: Workflow.objects.select_for_update().get(workflow_id=wf), "checkpoint.saved")
        for step in range(50):
            saved(save(api, wf, step, n(step)))
        taking.drain()
        holder.execute("SELECT 1 FROM checkpoints_workflow WHERE workflow_id = %s FOR UPDATE", [wf])
        with in_the_background(lambda: relay.relay_once(waiting, limit=10)):
            assert (relay.relay_once(failing), relay.relay_once("billing") > 0) == (0, True)
            holder.rollback()
    assert (writes(account.pk) - before, sum(map(redis.xlen, redis.scan_iter("events:*")))) == (50, 0)


@contextmanager
def in_the_background(work: Callable[[], object]) -> Iterator[None]:
    """In a thread with a connection of its own, which has ended afterwards."""
    thread = threading.Thread(target=at_once, args=[work])
    thread.start()
    yield
    thread.join()


def test_an_archive_that_is_down_hides_nothing_that_is_elsewhere(api: httpx.Client, wf: str, intake: Move) -> None:
    saved(save(api, f"{wf}-cold", 1, n(1)))
    intake()
    expire_all()
    saved(save(api, wf, 1, n(1)))
    intake()
    with override_settings(STORAGES=BLACK_HOLE):
        health.archive.forget()
        expire_all()
        answer = api.get(workflow(f"{wf}-cold", "resume"))
        error_of(answer, 503, "SERVICE_UNAVAILABLE")
        assert int(answer.headers["Retry-After"]) > 0
        assert (steps(api, wf), states(api, wf, 1)) == ([1], {n(1)})
        assert api.get("/health").json()["r2"] == "disconnected"
    health.archive.forget()
    assert states(api, f"{wf}-cold", 1) == {n(1)}


def test_saves_are_held_back_while_intake_is_behind_and_no_longer(
    api: httpx.Client, wf: str, intake: Move, redis: redis_py.Redis
) -> None:
    saved(save(api, wf, 1, n(1)))
    seconds, _ = redis.time()
    for shard in range(16):
        redis.hset(f"intake:{{{shard:02d}}}", mapping={"alive": seconds * 10**6, "behind": (seconds - 7) * 10**6})
    answer = save(api, wf, 2, n(2))
    error_of(answer, 503, "SERVICE_UNAVAILABLE")
    assert int(answer.headers["Retry-After"]) > 0
    assert (save(api, wf, 1, n(1)).status_code, steps(api, wf)) == (200, [1])
    intake()
    saved(save(api, wf, 2, n(2)))


def test_saves_slow_down_before_they_are_refused(
    api: httpx.Client, wf: str, intake: Move, redis: redis_py.Redis
) -> None:
    def seconds_of_a_save(step: int, *, heard: int, pace: int) -> float:
        now, _ = redis.time()
        for shard in range(16):
            redis.hset(f"intake:{{{shard:02d}}}", mapping={"alive": (now - heard) * 10**6, "behind": 0, "pace": pace})
        began = time.monotonic()
        saved(save(api, wf, step, n(step)))
        return time.monotonic() - began

    assert seconds_of_a_save(1, heard=0, pace=500_000) >= 0.5
    assert seconds_of_a_save(2, heard=0, pace=0) < 0.5
    assert seconds_of_a_save(3, heard=11, pace=500_000) < 0.5
    intake()
    assert {redis.hget(f"intake:{{{shard:02d}}}", "pace") for shard in range(16)} <= {b"0", "0"}


def test_an_intake_that_lags_tells_its_pace(api: httpx.Client, wf: str, redis: redis_py.Redis) -> None:
    saved(save(api, wf, 1, n(1)))
    time.sleep(1)
    taker = taking.Intake()
    while taker.cycle():
        pass
    paces = [int(redis.hget(f"intake:{{{shard:02d}}}", "pace") or 0) for shard in range(16)]
    taker.release()
    assert max(paces) >= 10_000


def test_the_pace_grows_with_the_lag_up_to_a_bound() -> None:
    lags = (0, 500_000, 1_000_000, 2_000_000, 3_000_000, 60_000_000)
    assert [taking.pace_for(lag) for lag in lags] == [0, 0, 10_000, 30_000, 50_000, 50_000]


@contextmanager
def redis_that(redis: redis_py.Redis, how: str) -> Iterator[None]:
    """Full, or a replica after a failover; as it was afterwards."""
    if how == "full":
        redis.config_set("maxmemory", 1)
    else:
        redis.execute_command("REPLICAOF", "127.0.0.1", "1")
    try:
        yield
    finally:
        redis.execute_command("REPLICAOF", "NO", "ONE")
        redis.config_set("maxmemory", 0)


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_a_redis_that_takes_no_writes_is_503_and_comes_back_by_itself(
    api: httpx.Client, wf: str, redis: redis_py.Redis, how: str
) -> None:
    saved(save(api, wf, 1, n(1)))
    with redis_that(redis, how):
        for step in (2, 3):
            answer = save(api, wf, step, n(step))
            error_of(answer, 503, "SERVICE_UNAVAILABLE")
            assert int(answer.headers["Retry-After"]) > 0
        assert saved_or_503(api.get(workflow(wf)))
    wait_until(lambda: save(api, wf, 4, n(4)).status_code in (200, 201), seconds=10)
    assert steps(api, wf) == [1, 4]


def saved_or_503(answer: httpx.Response) -> bool:
    """Never a 404 for what is there."""
    return answer.status_code in (200, 503)


@contextmanager
def postgres_away() -> Iterator[None]:
    """Our database lets nobody in and throws out who is in it; the server itself serves other tests too."""
    url, name = os.environ["DATABASE_URL"], connection.settings_dict["NAME"]
    environment.administer(url, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    environment.administer(url, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    try:
        yield
    finally:
        environment.administer(url, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        connection.close()


def test_while_postgres_is_away_warm_keys_save_on_and_unknown_ones_are_not_sent_away(
    base_url: str, api: httpx.Client, account: Account, make_account: Any, wf: str, intake: Move
) -> None:
    saved(save(api, wf, 0, n(0)))
    saved(api.get("/ready"), 200)
    intake()
    before, unseen = writes(account.pk), services.issue_key(make_account())[1]
    with postgres_away():
        for step in range(1, 50):
            saved(save(api, wf, step, n(step)))
        assert head_of(api, wf)["latest_checkpoint"]["step"] == 49
        with caller(base_url, unseen) as other:
            error_of(other.get("/usage"), 503, "SERVICE_UNAVAILABLE")
        error_of(api.get("/workflows"), 503, "SERVICE_UNAVAILABLE")
        assert api.get("/ready").status_code == 200
    wait_until(lambda: api.get("/workflows").status_code == 200, seconds=10)
    intake()
    assert (writes(account.pk) - before, steps(api, wf)) == (49, list(range(50)))
