"""Promise 4: of many writers with different contents one wins, whatever Redis knows when they race."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.promises.calling import Answer, Caller, state_of
from tests.promises.stack import Stack, Tenant

WRITERS = 50


def keep(stack: Stack) -> None:
    """The head is in Redis, and known to be the newest."""


def forget(stack: Stack) -> None:
    stack.catch_up()
    stack.flush_redis()


def restart(stack: Stack) -> None:
    stack.kill("store")
    stack.store.start()


@pytest.mark.parametrize("before", [keep, forget, restart])
@pytest.mark.parametrize("step", [1, 2])
def test_one_of_fifty_guarded_writers_wins(step, before, stack, tenant, caller):
    (etag,) = caller.save_steps("wf", 1, 1)
    before(stack)
    winner = the_winner(race(stack, tenant, step, {"If-Match": etag}))
    shown = caller.history("wf")
    assert (shown[-1].step, shown[-1].etag, len(shown)) == (step, winner.etag, step)
    stack.catch_up()
    assert caller.usage()["checkpoint_writes"] == 2


@pytest.mark.parametrize("before", [keep, restart])
def test_one_of_fifty_starters_wins(before, stack, tenant, caller):
    before(stack)
    winner = the_winner(race(stack, tenant, 1, {"If-None-Match": "*"}))
    assert [step.etag for step in caller.history("wf")] == [winner.etag]


def test_one_of_fifty_unguarded_writers_of_an_unseen_step_wins(stack, tenant, caller):
    caller.save_steps("wf", 7, 7)
    winner = the_winner(race(stack, tenant, 3, {}))
    assert [step.etag for step in caller.history("wf") if step.step == 3] == [winner.etag]


def race(stack: Stack, tenant: Tenant, step: int, headers: dict[str, str]) -> list[Answer]:
    gate = threading.Barrier(WRITERS)

    def write(number: int) -> Answer:
        with Caller(stack.url, tenant.key) as caller:
            caller.connection.connect()
            gate.wait(20)
            return caller.save("wf", step, state_of("wf", step, number + 1), **headers)

    with ThreadPoolExecutor(WRITERS) as threads:
        return list(threads.map(write, range(WRITERS)))


def the_winner(answers: list[Answer]) -> Answer:
    assert Counter(answer.status for answer in answers) == {201: 1, 409: WRITERS - 1}, answers
    winner = next(answer for answer in answers if answer.status == 201)
    assert {answer.json["existing"]["etag"] for answer in answers if answer.status == 409} == {winner.etag}
    return winner
