"""Promise 4: of many who save at once, one wins; with Redis warm, and cold, so that all of them ask Postgres."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest
import redis as redis_py

from accounts.models import Account
from snapstate_project.dev.process import wait_until
from tests.checkpoints.racing import Save, race, rows, statuses, winner, writes
from tests.checkpoints.steps import replay, resume, save, steps_of

Intake = Callable[[], None]
KILLS = 8


@pytest.fixture(params=["warm", "cold"])
def before(request: pytest.FixtureRequest, intake: Intake, redis: redis_py.Redis) -> Intake:
    """What happens before the race: nothing, or the loss of all that Redis holds."""

    def prepare() -> None:
        if request.param == "cold":
            intake()
            redis.flushall()

    return prepare


def differing(step: int, headers: dict[str, str] | None = None) -> Callable[[int], Save]:
    return lambda number: ({"workflow_id": "wf", "step": step, "state": {"writer": number}}, headers or {})


def identical(step: int, headers: dict[str, str] | None = None) -> Callable[[int], Save]:
    return lambda _: ({"workflow_id": "wf", "step": step, "state": {"same": True}}, headers or {})


def test_of_fifty_guarded_saves_of_the_next_step_one_wins(
    api: httpx.Client, account: Account, intake: Intake, before: Intake
) -> None:
    for step in (2, 3):
        if step == 2:
            save(api, "wf", 1)
        etag = resume(api, "wf").headers["ETag"]
        before()
        won = winner(race(api, 50, differing(step, {"If-Match": etag})))
        assert resume(api, "wf").headers["ETag"] == won.headers["ETag"]
        intake()
        assert (rows(account.id, step), writes(account.id)) == (1, step)
    assert steps_of(replay(api, "wf")) == [1, 2, 3]


def test_of_fifty_guarded_saves_that_skip_a_step_one_wins(api: httpx.Client, before: Intake) -> None:
    etag = save(api, "wf", 1).headers["ETag"]
    before()
    winner(race(api, 50, differing(3, {"If-Match": etag})))
    assert steps_of(replay(api, "wf")) == [1, 3]


def test_of_fifty_replacements_of_the_head_one_wins(
    api: httpx.Client, account: Account, intake: Intake, before: Intake
) -> None:
    etag = save(api, "wf", 1).headers["ETag"]
    before()
    won = winner(race(api, 50, differing(1, {"If-Match": etag})))
    assert resume(api, "wf").headers["ETag"] == won.headers["ETag"]
    intake()
    assert (rows(account.id, 1), writes(account.id)) == (1, 2)
    assert resume(api, "wf").json()["total_checkpoints"] == 1


@pytest.mark.parametrize("guarded", [False, True])
def test_fifty_identical_saves_are_one_and_forty_nine_replays(
    api: httpx.Client, account: Account, intake: Intake, before: Intake, guarded: bool
) -> None:
    etag = save(api, "wf", 1).headers["ETag"]
    before()
    answers = race(api, 50, identical(2, {"If-Match": etag} if guarded else {}))
    assert statuses(answers) == {201: 1, 200: 49}
    assert len({answer.headers["ETag"] for answer in answers}) == 1
    assert sum("Idempotent-Replayed" in answer.headers for answer in answers) == 49
    intake()
    assert (rows(account.id, 2), writes(account.id)) == (1, 2)


def test_of_fifty_starters_one_wins(api: httpx.Client, account: Account, intake: Intake, before: Intake) -> None:
    before()
    winner(race(api, 50, differing(1, {"If-None-Match": "*"})))
    intake()
    assert (rows(account.id, 1), writes(account.id)) == (1, 1)
    assert resume(api, "wf").json()["total_checkpoints"] == 1


def test_fifty_starters_of_fifty_workflows_all_win(api: httpx.Client, account: Account, before: Intake) -> None:
    before()
    answers = race(api, 50, lambda n: ({"workflow_id": f"wf-{n}", "step": 1, "state": {}}, {"If-None-Match": "*"}))
    assert statuses(answers) == {201: 50}


def test_of_twenty_writers_of_an_unseen_lower_step_one_wins(
    api: httpx.Client, account: Account, intake: Intake, before: Intake
) -> None:
    for step in range(2, 52):
        save(api, "wf", step)
    intake()
    before()
    winner(race(api, 20, differing(1)))
    again = race(api, 20, lambda number: ({"workflow_id": "wf", "step": 7, "state": {"n": 7 + number % 2}}, {}))
    assert statuses(again) == {200: 10, 409: 10}
    intake()
    assert (rows(account.id, 1), rows(account.id, 7), writes(account.id)) == (1, 1, 51)
    assert steps_of(replay(api, "wf")) == list(range(1, 52))


def test_writers_of_different_steps_all_win_and_none_is_lost(
    api: httpx.Client, account: Account, intake: Intake, before: Intake
) -> None:
    save(api, "wf", 25)
    before()
    answers = race(api, 50, lambda n: ({"workflow_id": "wf", "step": n + 100 * (n % 2), "state": {"n": n}}, {}))
    expected = sorted({n + 100 * (n % 2) for n in range(50)} | {25})
    assert statuses(answers) == {201: 50}
    assert steps_of(replay(api, "wf")) == expected
    intake()
    assert (writes(account.id), resume(api, "wf").json()["latest_checkpoint"]["step"]) == (51, 149)
    assert resume(api, "wf").json()["total_checkpoints"] == 51


def test_racing_erases_and_saves_leave_what_the_last_of_them_says(api: httpx.Client, intake: Intake) -> None:
    save(api, "wf", 1)
    erasing = threading.Thread(target=lambda: [api.delete("/workflows/wf") for _ in range(10)])
    erasing.start()
    seen = {save(api, "wf", step).status_code for step in range(2, 40)}
    erasing.join()
    api.delete("/workflows/wf")
    intake()
    assert seen <= {201, 503}
    assert (resume(api, "wf").status_code, steps_of(replay(api, "wf"))) == (404, [])
    assert save(api, "wf", 1).status_code == 201


def test_saves_whose_connection_to_redis_is_cut_are_never_lost(
    api: httpx.Client, account: Account, intake: Intake, redis: redis_py.Redis
) -> None:
    with cutting(redis) as done, ThreadPoolExecutor(6) as pool:
        tried = list(pool.map(lambda number: save_until(done, api, f"wf-{number}"), range(6)))
    assert wait_until(lambda: resume(api, "wf-0").status_code == 200, seconds=10)  # the last cut may be felt late
    intake()
    for number, answers in enumerate(tried):
        assert steps_of(replay(api, f"wf-{number}", limit=1000)) == list(range(len(answers)))
        assert resume(api, f"wf-{number}").json()["total_checkpoints"] == len(answers)
    assert writes(account.id) == sum(map(len, tried))
    seen = {status for answers in tried for answer in answers for status in answer}
    assert {201, 503} <= seen <= {200, 201, 503}


@contextmanager
def cutting(redis: redis_py.Redis) -> Iterator[threading.Event]:
    """Kills every other connection to Redis as soon as there is one; the event is set when it is done."""
    done = threading.Event()

    def cut() -> None:
        killed = 0
        while killed < KILLS and not done.wait(0.03):
            killed += bool(redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"))
        done.set()

    cutter = threading.Thread(target=cut)
    cutter.start()
    try:
        yield done
    finally:
        done.set()
        cutter.join()


def save_until(done: threading.Event, api: httpx.Client, workflow_id: str) -> list[list[int]]:
    """Saves step after step, each until it is stored; what was answered to each."""
    steps: list[list[int]] = []
    while not done.is_set():
        answers = [save(api, workflow_id, len(steps)).status_code]
        while answers[-1] == 503:
            answers.append(save(api, workflow_id, len(steps)).status_code)
        steps.append(answers)
    return steps
