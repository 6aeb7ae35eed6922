"""Promise 1: Redis alone holds little while intake runs. When intake cannot keep up saves are refused, then go on."""

import time

from tests.promises.books import reconcile
from tests.promises.clients import load
from tests.promises.stack import within


def test_saves_wait_for_an_intake_that_cannot_keep_up(stack, tenant, note):
    with load(stack, tenant, clients=6) as clients:
        began = time.monotonic()
        with stack.intake_that("is-slow", "0.01"):
            assert within(25, lambda: clients.refused("save") > 0), stack.last_words()
            held_back = time.monotonic() - began
        before, began_again = clients.answered("save"), time.monotonic()
        assert within(15, lambda: clients.answered("save") > before + 100), stack.last_words()
        going_again = time.monotonic() - began_again
    figures = reconcile(clients)
    assert held_back > 5
    note(f"{figures}; refused after {held_back:.1f} s, accepted {going_again:.1f} s after intake was well again")
