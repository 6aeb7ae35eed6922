"""Promise 1 and 6: kill -9 of any one process under load; every 201 is there, and counted once."""

import time

import pytest

from tests.promises.books import reconcile
from tests.promises.clients import load

BEFORE_SECONDS = 1.0
AFTER_SECONDS = 1.0


@pytest.mark.parametrize("part", ["web", "intake", "worker", "beat", "postgres", "store"])
def test_what_was_acknowledged_survives_the_kill_of(part, stack, tenant, note):
    with load(stack, tenant) as clients:
        time.sleep(BEFORE_SECONDS)
        stack.kill(part)
        time.sleep(0.5)
        stack.start_again(part)
        time.sleep(AFTER_SECONDS)
    note(reconcile(clients))
