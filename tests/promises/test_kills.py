"""Promises 1 and 6: kill -9 of any one process under load; every 201 is there, and counted once."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from tests.promises.books import reconcile
from tests.promises.clients import load
from tests.promises.stack import Stack, within

ROUNDS = 2
DOWN_SECONDS = 0.3


@pytest.mark.parametrize("part", ["web", "intake", "worker", "beat", "postgres", "store", "broker"])
def test_what_was_acknowledged_survives_the_kill_of(part, stack, tenant, note):
    with load(stack, tenant) as clients:
        for _ in range(ROUNDS):
            time.sleep(random.uniform(0.4, 0.9))
            stack.kill(part)
            time.sleep(DOWN_SECONDS)
            stack.start_again(part)
        time.sleep(0.5)
    note(f"{ROUNDS} kills, {reconcile(clients)}")
    assert part not in ("worker", "broker") or within(30, stack.worker_answers)


def one_of_the_web_workers(stack: Stack) -> int:
    children = Path(f"/proc/{stack.web.pid}/task/{stack.web.pid}/children").read_text()
    return int(random.choice(children.split()))


def one_of_the_sessions_of_postgres(stack: Stack) -> int:
    query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    while not (found := stack.sql(query)):  # they were all killed with the last one, and are on their way back
        time.sleep(0.05)
    return int(random.choice(found)[0])


@pytest.mark.parametrize("choose", [one_of_the_web_workers, one_of_the_sessions_of_postgres])
def test_what_was_acknowledged_survives_a_kill_that_heals_by_itself(choose, stack, tenant, note):
    ours = stack.pids()
    with load(stack, tenant) as clients:
        for _ in range(ROUNDS):
            time.sleep(random.uniform(0.4, 0.9))
            stack.wait_for_postgres()
            os.kill(choose(stack), signal.SIGKILL)
        time.sleep(1.5)
    note(f"{ROUNDS} kills, {reconcile(clients)}")
    assert stack.pids() == ours
