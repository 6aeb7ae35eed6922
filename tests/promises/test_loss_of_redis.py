"""Promise 1: what Redis loses, Postgres has; a Redis that is back from the past changes nothing."""

import shutil
import time
from pathlib import Path

import pytest

from tests.promises.books import reconcile, saved_events
from tests.promises.calling import Caller, state_of
from tests.promises.clients import load
from tests.promises.stack import Stack, within

QUEUE_IS_TAKEN_SECONDS = 2.0


def steps(caller: Caller) -> list[int]:
    return [step.step for step in caller.history("wf")]


def seen(caller: Caller) -> list[object]:
    answers = [caller.replay("wf", limit=100), caller.call("GET", "/checkpoints/cp_wf_007"), caller.replay("erased")]
    return [answer.body for answer in answers] + [caller.head("wf"), caller.resume("erased").status]


def test_everything_is_as_before_two_seconds_after_the_last_save(stack, caller):
    etags = caller.save_steps("wf", 1, 40)
    caller.save_steps("erased", 1, 3)
    assert caller.call("DELETE", "/workflows/erased").status == 204
    time.sleep(QUEUE_IS_TAKEN_SECONDS)
    before = seen(caller)
    stack.flush_redis()
    assert seen(caller) == before
    again = caller.save("wf", 3, state_of("wf", 3))
    assert (again.status, again.etag) == (200, etags[2])
    following = caller.save("wf", 41, state_of("wf", 41), **{"If-Match": etags[-1]})
    assert (following.status, caller.head("wf")) == (201, (41, following.etag, 41))


@pytest.mark.parametrize("first", ["resume", "replay", "GET", "next step", "old step"])
def test_whatever_comes_first_after_the_loss_finds_everything(first, stack, caller):
    etags = caller.save_steps("wf", 1, 30)
    stack.catch_up()
    stack.flush_redis()
    calls = {
        "resume": lambda: caller.resume("wf").etag == etags[-1],
        "replay": lambda: steps(caller) == list(range(1, 31)),
        "GET": lambda: caller.call("GET", "/checkpoints/cp_wf_002").etag == etags[1],
        "next step": lambda: caller.save("wf", 31, state_of("wf", 31)).status == 201,
        "old step": lambda: caller.save("wf", 1, state_of("wf", 1)).etag == etags[0],
    }
    assert calls[first]()


def test_a_load_goes_on_over_the_loss_of_redis(stack, tenant, note):
    with load(stack, tenant) as clients:
        for _ in range(3):
            time.sleep(0.5)
            clients.pause()
            stack.catch_up()
            stack.flush_redis()
            clients.go_on()
        time.sleep(0.5)
    note(reconcile(clients))


def test_a_batch_under_way_and_what_is_saved_after_the_loss_both_stay(stack, tenant, caller, folder):
    etags, after = under_way(stack, caller, folder, lambda: caller.save_steps("wf", 6, 8))
    assert [step.etag for step in caller.history("wf")] == etags + after
    assert caller.head("wf") == (8, after[-1], 8)
    sequences = [int(etag.split("-")[1]) for etag in etags + after]
    assert sequences == sorted(set(sequences))
    assert caller.usage()["checkpoint_writes"] == saved_events(stack, tenant) == 8


def test_a_lower_step_saved_after_the_loss_does_not_hide_the_batch_under_way(stack, caller, folder):
    etags, _ = under_way(stack, caller, folder, lambda: caller.save_steps("wf", 2, 2))
    assert (steps(caller), caller.head("wf")) == ([1, 2, 3, 4, 5], (5, etags[-1], 5))


def test_what_was_read_after_the_loss_does_not_hide_the_batch_under_way(stack, caller, folder):
    caller.save_steps("wf", 0, 0)
    stack.catch_up()
    etags, early = under_way(stack, caller, folder, lambda: caller.head("wf")[0])
    assert (early, caller.head("wf")) == (0, (5, etags[-1], 6))
    assert steps(caller) == [0, 1, 2, 3, 4, 5]


def under_way(stack: Stack, caller: Caller, folder: Path, act):
    """Steps 1 to 5 are read by intake, then Redis is flushed, then comes the act, then the commit."""
    stack.intake.stop()
    etags = caller.save_steps("wf", 1, 5)
    with stack.intake_that("waits-before-commit", str(folder)):
        assert within(20, (folder / "read").exists)
        stack.flush_redis()
        result = act()
        (folder / "go").touch()
        stack.catch_up()
    return etags, result


def test_a_redis_from_the_past_changes_nothing(stack, tenant, caller, folder):
    stack.intake.stop()
    etags = caller.save_steps("wf", 1, 25)
    assert stack.queued() >= 25
    stack.store.stop()
    shutil.copytree(stack.store.folder, folder / "copy")
    stack.store.start()
    stack.intake.start()
    etags += caller.save_steps("wf", 26, 30)
    stack.catch_up()
    go_back(stack, folder / "copy")
    assert caller.head("wf") == (30, etags[-1], 30)
    etags += caller.save_steps("wf", 31, 32)
    stack.catch_up()
    assert [step.etag for step in caller.history("wf")] == etags
    assert (len(set(etags)), caller.usage()["checkpoint_writes"], saved_events(stack, tenant)) == (32, 32, 32)


def go_back(stack: Stack, copy: Path) -> None:
    stack.store.stop()
    shutil.rmtree(stack.store.folder)
    shutil.copytree(copy, stack.store.folder)
    stack.store.start()
