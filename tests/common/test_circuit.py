"""The circuit: opens after three failures in a row, tries one call at a time, and rests longer each time in vain."""

import threading

import pytest

from snapstate_project.common.circuit import FAILURES, LONGEST_REST_SECONDS, Circuit, opened, refused


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def circuit(clock):
    return Circuit("test", clock=clock)


def fail(circuit, times=FAILURES):
    for _ in range(times):
        circuit.failed()


def test_failures_in_a_row_open_it(circuit):
    fail(circuit, FAILURES - 1)
    assert circuit.admits()
    circuit.failed()
    assert not circuit.admits()


def test_a_success_between_them_keeps_it_closed(circuit):
    for _ in range(5):
        fail(circuit, FAILURES - 1)
        circuit.succeeded()
    assert circuit.admits()


def test_one_call_is_let_through_when_it_has_rested(circuit, clock):
    fail(circuit)
    clock.now += 0.6
    assert [circuit.admits() for _ in range(3)] == [True, False, False]
    circuit.succeeded()
    assert [circuit.admits() for _ in range(3)] == [True, True, True]


def test_it_rests_longer_each_time_it_is_tried_in_vain_but_never_long(circuit, clock):
    fail(circuit)
    rests = [circuit.rest]
    for _ in range(6):
        clock.now += circuit.rest
        assert circuit.admits()
        circuit.failed()
        rests.append(circuit.rest)
    assert rests == [0.5, 1, 2, 4, 4, 4, 4]
    assert LONGEST_REST_SECONDS == 4


def test_failures_that_come_late_do_not_make_the_rest_longer(circuit, clock):
    fail(circuit, FAILURES + 20)
    assert circuit.rest == 0.5
    clock.now += 0.5
    assert circuit.admits()


def test_a_try_without_a_verdict_is_followed_by_another(circuit, clock):
    fail(circuit)
    clock.now += 0.5
    assert circuit.admits()
    clock.now += LONGEST_REST_SECONDS
    assert circuit.admits()


def test_it_tells_how_often_it_opened_and_refused(circuit):
    before = [dict(counter.rows).get(("test",), [0.0])[0] for counter in (opened, refused)]
    fail(circuit)
    assert not circuit.admits()
    assert [counter.rows["test",][0] for counter in (opened, refused)] == [before[0] + 1, before[1] + 1]


def test_of_many_threads_one_is_let_through(circuit, clock):
    fail(circuit)
    clock.now += 1
    admitted = []
    threads = [threading.Thread(target=lambda: admitted.append(circuit.admits())) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(admitted) == 1
