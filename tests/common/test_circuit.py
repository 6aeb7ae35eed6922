"""The circuit: opens after three failures in a row, and closes by itself when the tier answers."""

import asyncio

import pytest

from snapstate_project.common import circuit as circuits
from snapstate_project.common.circuit import FAILURES, Circuit, opened, refused


class Tier:
    """Dead until it is told otherwise; how often it was looked at."""

    def __init__(self):
        self.alive = False
        self.looks = 0

    async def look(self):
        self.looks += 1
        if not self.alive:
            raise OSError("dead")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(circuits, "SHORTEST_PAUSE_SECONDS", 0.005)
    monkeypatch.setattr(circuits, "LONGEST_PAUSE_SECONDS", 0.02)


@pytest.fixture
def tier():
    return Tier()


@pytest.fixture
def circuit(tier):
    return Circuit("test", tier.look)


def fail(circuit, times=FAILURES):
    for _ in range(times):
        circuit.failed()


async def until(fact):
    async with asyncio.timeout(5):
        while not fact():  # noqa: ASYNC110 (it is not ours to set an event)
            await asyncio.sleep(0.005)


def test_failures_in_a_row_open_it(circuit):
    async def scenario():
        fail(circuit, FAILURES - 1)
        assert circuit.admits()
        circuit.failed()
        assert not circuit.admits()

    asyncio.run(scenario())


def test_a_success_between_them_keeps_it_closed(circuit):
    for _ in range(5):
        fail(circuit, FAILURES - 1)
        circuit.succeeded()
    assert circuit.admits()


def test_it_closes_by_itself_when_the_tier_is_back(circuit, tier):
    async def scenario():
        fail(circuit)
        await until(lambda: tier.looks >= 3)
        assert not circuit.admits()
        tier.alive = True
        await until(circuit.admits)

    asyncio.run(scenario())


def test_one_task_looks_however_many_are_refused(circuit, tier):
    async def scenario():
        fail(circuit, FAILURES + 20)
        assert not any(circuit.admits() for _ in range(1000))
        await until(lambda: tier.looks >= 2)
        assert tier.looks < 10
        circuit.succeeded()
        await until(circuit.looking.done)

    asyncio.run(scenario())


def test_a_call_from_before_that_succeeds_closes_it(circuit):
    async def scenario():
        fail(circuit)
        circuit.succeeded()
        assert circuit.admits()

    asyncio.run(scenario())


def test_another_loop_goes_on_looking_when_the_first_is_gone(circuit, tier):
    async def open_it():
        fail(circuit)

    async def find_it_closed():
        tier.alive = True
        await until(circuit.admits)

    asyncio.run(open_it())
    assert circuit.is_open
    asyncio.run(find_it_closed())


def test_it_tells_how_often_it_opened_and_refused(circuit):
    async def scenario():
        fail(circuit)
        assert [circuit.admits() for _ in range(2)] == [False, False]

    before = [counter.rows.get(("test",), [0.0])[0] for counter in (opened, refused)]
    asyncio.run(scenario())
    assert [counter.rows["test",][0] for counter in (opened, refused)] == [before[0] + 1, before[1] + 2]
