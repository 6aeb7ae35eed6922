"""The way to the ORM: bounded, timed, and an outage is an outage."""

import asyncio
import threading
import time
from contextlib import suppress

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection, connections
from django.test import override_settings

from snapstate_project.common import threads
from snapstate_project.common.circuit import FAILURES
from snapstate_project.common.errors import PostgresDown, RedisDown
from snapstate_project.common.threads import OrmThreads, in_thread
from snapstate_project.dev.process import wait_until


def one():
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return cursor.fetchone()[0]


def test_the_orm_answers_from_the_loop():
    async def scenario():
        return await asyncio.gather(*(in_thread(one) for _ in range(50)))

    assert asyncio.run(scenario()) == [1] * 50


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_an_outage_of_postgres_is_said_so(error):
    def fail():
        raise error("gone")

    with pytest.raises(PostgresDown):
        asyncio.run(in_thread(fail))


def test_who_waits_too_long_is_let_go():
    released = threading.Event()
    with override_settings(POSTGRES_TIMEOUT_SECONDS=0.1), pytest.raises(PostgresDown, match="in time"):
        asyncio.run(in_thread(released.wait, 5))
    released.set()
    assert wait_until(lambda: not threads.orm.running, seconds=5)  # else the next test finds one who waits


def test_those_who_wait_are_bounded():
    released = threading.Event()

    async def scenario():
        calls = [asyncio.create_task(in_thread(released.wait, 10)) for _ in range(threads.WAITING_AT_MOST)]
        await asyncio.sleep(0)
        with pytest.raises(PostgresDown, match="Too many"):
            await in_thread(one)
        released.set()
        await asyncio.gather(*calls)
        return await in_thread(one)

    assert asyncio.run(scenario()) == 1


def test_a_timeout_of_the_work_itself_is_not_blamed_on_postgres():
    def fail():
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        asyncio.run(in_thread(fail))


def test_work_nobody_waits_for_any_more_is_not_begun():
    released = threading.Event()
    begun: list[int] = []

    async def scenario():
        holding = [asyncio.create_task(in_thread(released.wait, 10)) for _ in range(threads.THREADS)]
        late = asyncio.create_task(in_thread(begun.append, 1))
        await asyncio.sleep(0.01)
        late.cancel()
        await asyncio.gather(late, return_exceptions=True)
        released.set()
        await asyncio.gather(*holding)
        return await in_thread(time.monotonic)

    asyncio.run(scenario())
    assert begun == []


def fails_as(cause):
    def fail():
        raise OperationalError("gone") from cause

    return fail


def test_a_connection_to_who_was_the_primary_is_left():
    pool = threads.OrmThreads(1)

    def run(statement):
        with connection.cursor() as cursor:
            cursor.execute(statement)

    asyncio.run(pool.run(run, "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"))
    with pytest.raises(PostgresDown):
        asyncio.run(pool.run(run, "CREATE TABLE never ()"))
    asyncio.run(pool.run(run, "CREATE TEMP TABLE again ()"))
    assert not pool.circuit.is_open
    asyncio.run(pool.run(connections.close_all))


def refused_at_once(pool):
    """Whether a call is refused without having been made; nobody looks for a sign of life meanwhile."""
    made: list[int] = []
    with pytest.raises(PostgresDown):
        asyncio.run(pool.run(made.append, 1))
    return made == []


def gone(pool, times=FAILURES):
    for _ in range(times):
        with pytest.raises(PostgresDown):
            asyncio.run(pool.run(fails_as(psycopg.OperationalError("connection refused"))))


def leave(both):
    connections.close_all()
    both.wait()


@pytest.fixture
def pool():
    """Two threads with a circuit of their own."""
    pool = OrmThreads(2)
    yield pool
    both = threading.Barrier(2, timeout=5)
    for _ in range(2):
        pool.pool.submit(leave, both)
    pool.pool.shutdown()


def test_a_postgres_that_is_gone_is_not_asked_until_it_has_given_a_sign_of_life(pool):
    async def until_it_is_back():
        async with asyncio.timeout(10):
            while True:
                with suppress(PostgresDown):
                    return await pool.run(one)
                await asyncio.sleep(0.02)

    gone(pool)
    assert refused_at_once(pool)
    assert asyncio.run(until_it_is_back()) == 1
    assert not pool.circuit.is_open


@pytest.mark.parametrize("cause", [psycopg.errors.DeadlockDetected(), psycopg.errors.QueryCanceled(), ValueError()])
def test_what_postgres_itself_refuses_is_no_outage(pool, cause):
    for _ in range(5):
        with pytest.raises((PostgresDown, ValueError)):
            asyncio.run(pool.run(fails_as(cause) if isinstance(cause, psycopg.Error) else raising(cause)))
    assert not pool.circuit.is_open


def raising(error):
    def fail():
        raise error

    return fail


@pytest.mark.parametrize("cause", [psycopg.errors.AdminShutdown(), psycopg.errors.TooManyConnections()])
def test_a_server_that_leaves_or_is_full_is_one(pool, cause):
    for _ in range(FAILURES):
        with pytest.raises(PostgresDown):
            asyncio.run(pool.run(fails_as(cause)))
    assert refused_at_once(pool)


def test_another_tiers_outage_says_nothing_of_postgres(pool):
    gone(pool, FAILURES - 1)
    with pytest.raises(RedisDown):
        asyncio.run(pool.run(raising(RedisDown())))
    gone(pool, 1)
    assert refused_at_once(pool)


def test_timeouts_open_the_circuit_too(pool):
    released = threading.Event()
    with override_settings(POSTGRES_TIMEOUT_SECONDS=0.05):
        for _ in range(FAILURES):
            with pytest.raises(PostgresDown, match="in time"):
                asyncio.run(pool.run(released.wait, 5))
    assert refused_at_once(pool)
    released.set()


def test_nobody_joins_threads_that_all_stand_still(pool, monkeypatch):
    monkeypatch.setattr(threads, "STANDSTILL_SECONDS", 0.05)
    released = threading.Event()

    async def scenario():
        stuck = [asyncio.create_task(pool.run(released.wait, 5)) for _ in range(2)]
        await asyncio.sleep(0.1)
        with pytest.raises(PostgresDown):
            await pool.run(one)
        released.set()
        await asyncio.gather(*stuck)
        return await pool.run(one)

    assert asyncio.run(scenario()) == 1
