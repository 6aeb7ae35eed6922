"""Promises 1 and 6: intake dies, loses answers, meets another intake; nothing is lost and nothing taken twice."""

import signal
import time

import pytest

from tests.promises.books import reconcile
from tests.promises.calling import state_of
from tests.promises.clients import load
from tests.promises.stack import within

DEATHS = 2
HOLDER = "SELECT DISTINCT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = x'534E4150'::int AND granted"


@pytest.mark.parametrize(
    "way", ["dies-before-commit", "dies-before-settling", "dies-while-settling", "dies-in-a-relay"]
)
def test_nothing_is_lost_or_taken_twice_by_intake_that(way, stack, tenant, note):
    with load(stack, tenant) as clients:
        for _ in range(DEATHS):
            with stack.intake_that(way) as intake:
                assert within(20, lambda: not intake.running), stack.last_words()
            time.sleep(0.5)
    note(reconcile(clients))


@pytest.mark.parametrize("way", ["hears-nothing-of-commits", "kills-postgres-in-commits"])
def test_a_commit_in_doubt_is_taken_once_by_intake_that(way, stack, tenant, note):
    with load(stack, tenant) as clients, stack.intake_that(way):
        time.sleep(5)
    note(reconcile(clients))


def test_two_intakes_take_everything_once_whoever_dies(stack, tenant, note):
    with load(stack, tenant) as clients, stack.second_intake() as second:
        for dying in (stack.intake, second, stack.intake):
            time.sleep(1)
            dying.kill()
            dying.start()
    note(reconcile(clients))


def test_an_intake_that_slept_while_another_worked_does_not_build_on_what_it_remembers(stack, caller):
    (first,) = caller.save_steps("wf", 1, 1)
    stack.catch_up()
    stack.signal("intake", signal.SIGSTOP)
    stack.sql(f"SELECT pg_terminate_backend(pid) FROM ({HOLDER}) AS holder")
    with stack.second_intake():
        caller.save("wf", 1, state_of("wf", 1, 1), **{"If-Match": first})
        stack.catch_up()
    stack.signal("intake", signal.SIGCONT)
    caller.save_steps("wf", 2, 2)
    stack.catch_up()
    stack.flush_redis()
    states = [bytes(step.state) for step in caller.history("wf")]
    assert states == [state_of("wf", 1, 1), state_of("wf", 2)]
