"""Promise 1: Redis alone holds little while intake runs. When intake cannot keep up saves are refused, then go on."""

import os
import signal
import time
from pathlib import Path

from snapstate_project.gunicorn import YIELDING
from tests.promises.books import reconcile
from tests.promises.clients import load
from tests.promises.stack import Stack, within


def test_saves_wait_for_an_intake_that_cannot_keep_up_and_for_no_other(stack, tenant, note):
    with load(stack, tenant, clients=6) as clients:
        began = time.monotonic()
        with stack.intake_that("is-slow", "0.01") as intake:
            assert within(40, lambda: clients.refused("save") > 0), stack.last_words()
            held_back = time.monotonic() - began
            intake.send(signal.SIGTERM)
            assert within(15, lambda: not intake.running)
            time.sleep(0.2)
            refused, answered = clients.refused("save"), clients.answered("save")
            time.sleep(1)
            assert clients.refused("save") == refused
            assert clients.answered("save") > answered + 20
    figures = reconcile(clients)
    assert held_back > 5
    note(f"{figures}; first refused after {held_back:.1f} s, {refused} times, never without intake")


def test_who_takes_saves_yields_to_who_makes_them_durable(stack: Stack) -> None:
    workers = Path(f"/proc/{stack.web.pid}/task/{stack.web.pid}/children").read_text().split()
    nice = {os.getpriority(os.PRIO_PROCESS, int(pid)) for pid in workers}
    assert nice == {os.getpriority(os.PRIO_PROCESS, stack.intake.pid) + YIELDING}
