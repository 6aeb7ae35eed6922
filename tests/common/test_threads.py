"""The way to the ORM: bounded, timed, and an outage is an outage."""

import asyncio
import threading
import time

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import override_settings

from snapstate_project.common import threads
from snapstate_project.common.errors import PostgresDown
from snapstate_project.common.threads import in_thread


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
