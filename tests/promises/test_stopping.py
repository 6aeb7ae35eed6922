"""SIGTERM loses nothing that is under way: web answers it, intake commits it, both are gone within ten seconds."""

import signal
import threading
import time

from tests.promises.calling import Answer, Caller, state_of
from tests.promises.stack import Stack, Tenant, within

IN_FLIGHT = 20
EXIT_WITHIN_SECONDS = 10.0


def test_web_answers_what_is_in_flight_and_goes(stack, tenant):
    answers: list[Answer] = []
    warm(stack, tenant)
    stack.signal("store", signal.SIGSTOP)  # so that they are in flight for a while
    savers = [threading.Thread(target=lambda n=n: answers.append(save_one(stack, tenant, n))) for n in range(IN_FLIGHT)]
    for saver in savers:
        saver.start()
    time.sleep(0.5)
    began = time.monotonic()
    stack.web.send(signal.SIGTERM)
    time.sleep(0.5)
    stack.signal("store", signal.SIGCONT)
    for saver in savers:
        saver.join(15)
    assert [answer.status for answer in answers] == [201] * IN_FLIGHT
    assert within(EXIT_WITHIN_SECONDS, lambda: not stack.web.running)
    assert time.monotonic() - began < EXIT_WITHIN_SECONDS
    assert stack.web.ended_well
    stack.start_again("web")


def warm(stack: Stack, tenant: Tenant) -> None:
    with Caller(stack.url, tenant.key) as caller:
        for n in range(IN_FLIGHT):
            caller.save_steps(f"wf{n}", 1, 1)


def save_one(stack: Stack, tenant: Tenant, number: int) -> Answer:
    with Caller(stack.url, tenant.key) as caller:
        return caller.save(f"wf{number}", 2, state_of("wf", 2))


def test_intake_finishes_its_batch_and_goes(stack, caller, folder):
    stack.intake.stop()
    caller.save_steps("wf", 1, 1)
    with stack.intake_that("waits-before-commit", str(folder)) as intake:
        assert within(20, (folder / "read").exists)
        intake.send(signal.SIGTERM)
        time.sleep(0.2)
        (folder / "go").touch()
        assert within(EXIT_WITHIN_SECONDS, lambda: not intake.running)
        assert (intake.ended_well, stack.queued()) == (True, 0)
    stack.flush_redis()
    assert caller.head("wf")[0] == 1
