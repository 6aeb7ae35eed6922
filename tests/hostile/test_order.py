"""Hostile inputs, order, concurrency, retries: the highest step is the head, a retry is safe, one writer wins."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import redis as redis_py
from snapstate_sdk import SnapStateClient

from tests.checkpoints.racing import Save, race, rows, statuses, winner, writes
from tests.clients.faults import Fault, faulty
from tests.common.raw_http import connect, head, read_answer
from tests.hostile.conftest import expire_all
from tests.hostile.reading import body, save, saved, send, states, workflow

Move = Callable[[], None]


def steps(api: httpx.Client, workflow_id: str, query: str = "limit=1000") -> list[int]:
    answer = saved(api.get(f"{workflow(workflow_id, 'replay')}?{query}"), 200)
    return [checkpoint["step"] for checkpoint in answer.json()["checkpoints"]]


def head_of(api: httpx.Client, workflow_id: str) -> Any:
    return saved(api.get(workflow(workflow_id, "resume")), 200).json()


def n(number: int) -> str:
    return json.dumps({"n": number})


def differing(workflow_id: str, step: int, **headers: str) -> Callable[[int], Save]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda writer: ({"workflow_id": workflow_id, "step": step, "state": {"writer": writer}}, named)


@pytest.mark.parametrize("order", [(2, 1), (9, 10, 11), (1, 2, 0), (5, 9, 7, 8, 6)])
def test_the_head_is_the_highest_step_and_replay_goes_in_step_order(
    api: httpx.Client, wf: str, settle: Move, order: tuple[int, ...]
) -> None:
    for step in order:
        saved(save(api, wf, step, n(step)))
    settle()
    assert head_of(api, wf)["latest_checkpoint"]["step"] == max(order)
    assert head_of(api, wf)["total_checkpoints"] == len(order)
    assert steps(api, wf) == sorted(order)


def test_replay_filters_first_and_neither_skips_nor_repeats(api: httpx.Client, wf: str, settle: Move) -> None:
    for step in range(1, 31):
        saved(save(api, wf, step, n(step)))
    settle()
    assert steps(api, wf, "from_step=21&limit=10") == list(range(21, 31))
    seen, query, saving = [], "limit=10", 31
    while query:
        page = api.get(f"{workflow(wf, 'replay')}?{query}").json()
        seen += [checkpoint["step"] for checkpoint in page["checkpoints"]]
        saved(save(api, wf, saving, n(saving)))
        query, saving = page["has_more"] and f"limit=10&cursor={page['next_cursor']}", saving + 1
    assert seen == list(range(1, max(seen) + 1))
    assert max(seen) >= 30


@pytest.mark.parametrize("step", [2, 3])
def test_of_fifty_saves_under_the_same_etag_one_wins(
    api: httpx.Client, account: Any, wf: str, intake: Move, settle: Move, step: int
) -> None:
    saved(save(api, wf, 1))
    settle()
    intake()
    etag, before = head_of(api, wf)["latest_checkpoint"]["etag"], writes(account.id)
    won = winner(race(api, 50, differing(wf, step, If_Match=etag)))
    intake()
    assert head_of(api, wf)["latest_checkpoint"]["etag"] == won.headers["ETag"]
    assert (steps(api, wf), writes(account.id) - before) == ([1, step], 1)


def test_a_guarded_save_whose_answer_was_lost_is_a_replay_wherever_the_head_is(
    api: httpx.Client, wf: str, settle: Move
) -> None:
    etag = saved(save(api, wf, 1)).headers["ETag"]
    lost = saved(send(api, body(wf, 2, n(2)), If_Match=etag))
    saved(save(api, wf, 3))
    settle()
    again = saved(send(api, body(wf, 2, n(2)), If_Match=etag), 200)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.json() == lost.json()


def test_a_step_that_was_trimmed_is_a_replay_or_a_conflict_and_an_unseen_one_has_one_winner(
    api: httpx.Client, account: Any, wf: str, intake: Move, settle: Move
) -> None:
    for step in (*range(1, 20), *range(21, 52)):
        saved(save(api, wf, step, n(step)))
    intake()
    settle()
    assert save(api, wf, 3, n(3)).status_code == 200
    assert save(api, wf, 3, n(4)).status_code == 409
    before = rows(account.id, 20)
    winner(race(api, 20, differing(wf, 20)))
    intake()
    assert rows(account.id, 20) - before == 1
    assert steps(api, wf) == list(range(1, 52))


def test_replaced_heads_and_late_steps_leave_every_step_readable(
    api: httpx.Client, wf: str, intake: Move, settle: Move, redis: redis_py.Redis
) -> None:
    expected = {}
    for step, again in ((8, 0), (10, 0), (9, 0), (10, 1), (10, 2), (12, 0), (11, 0), (7, 0), (12, 3), (13, 0), (14, 0)):
        etag = head_of(api, wf)["latest_checkpoint"]["etag"] if again else ""
        expected[step] = n(step * 100 + again)
        saved(send(api, body(wf, step, expected[step]), **({"If_Match": etag} if again else {})))
        if step in (9, 7, 13):
            intake()
    settle()
    assert steps(api, wf) == sorted(expected)
    assert states(api, wf, 14) == {expected[14]}
    for step, state in expected.items():
        assert state.encode() in api.get(f"/checkpoints/cp_{wf}_{step:03d}").content
    assert head_of(api, wf)["total_checkpoints"] == len(expected)


def test_pruning_and_archiving_while_saves_arrive_leave_every_remaining_step_readable(
    api: httpx.Client, wf: str, intake: Move
) -> None:
    saved(save(api, wf, 0, n(0)))
    saved(api.patch(workflow(wf), json={"keep_last": 5}), 200)
    for step in range(1, 40):
        saved(save(api, wf, step, n(step)))
        if step % 7 == 0:
            intake()
        if step % 13 == 0:
            expire_all()
    left = steps(api, wf)
    assert left[-5:] == list(range(35, 40))
    assert all(n(step).encode() in api.get(f"/checkpoints/cp_{wf}_{step:03d}").content for step in left)


def test_fifty_identical_saves_are_stored_and_counted_once(
    api: httpx.Client, account: Any, wf: str, intake: Move, settle: Move
) -> None:
    saved(save(api, wf, 1))
    settle()
    intake()
    before = writes(account.id)
    answers = race(api, 50, lambda _: ({"workflow_id": wf, "step": 2, "state": {"same": 1}}, {}))
    intake()
    assert (statuses(answers), writes(account.id) - before) == ({201: 1, 200: 49}, 1)


def test_of_fifty_starters_one_wins_and_none_where_there_is_a_workflow_in_any_tier(
    api: httpx.Client, wf: str, settle: Move
) -> None:
    winner(race(api, 50, differing(wf, 1, If_None_Match="*")))
    settle()
    assert statuses(race(api, 50, lambda n: differing(wf, 2, If_None_Match="*")(100 + n))) == {409: 50}


def test_the_same_state_again_later_is_another_revision(api: httpx.Client, wf: str, settle: Move) -> None:
    etags = [saved(save(api, wf, step, state)).headers["ETag"] for step, state in ((1, n(1)), (2, n(2)), (3, n(1)))]
    settle()
    assert len(set(etags)) == 3
    for stale in etags[:2]:
        refused = saved(send(api, body(wf, 4, n(4)), If_Match=stale), 409)
        assert refused.json()["existing"] == {"checkpoint_id": f"cp_{wf}_003", "etag": etags[2]}
    saved(send(api, body(wf, 4, n(4)), If_Match=etags[2]))


def test_a_save_whose_connection_was_cut_is_stored_and_counted_once(
    base_url: str, api: httpx.Client, account: Any, key: str, wf: str, intake: Move
) -> None:
    intake()
    before, content = writes(account.id), body(wf, 1, n(1))
    for _ in range(5):
        with connect(base_url) as cut:
            kind = {"Content_Type": "application/json", "Content_Length": str(len(content))}
            cut.sendall(head("POST", "/checkpoints", key, **kind) + content)
    with connect(base_url) as whole:
        whole.sendall(head("POST", "/checkpoints", key, **kind) + content)
        assert read_answer(whole).startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 201 "))
    intake()
    assert (writes(account.id) - before, steps(api, wf)) == (1, [1])


def test_our_python_sdk_sends_a_save_again_by_itself(
    base_url: str, api: httpx.Client, account: Any, key: str, wf: str, intake: Callable[[], None]
) -> None:
    intake()
    before = writes(account.id)
    dropping = faulty(base_url, rate=1, faults=[Fault.DROPS_AFTER_COMMIT], most=1)
    with dropping as proxy, SnapStateClient(key, proxy.url) as sdk, sdk.workflow(wf) as work:
        assert [work.checkpoint(state={"n": n}).replayed for n in range(5)] == [True] * 5
    intake()
    assert proxy.met[Fault.DROPS_AFTER_COMMIT] > 5  # every save's first answer, and the resume's
    assert (writes(account.id) - before, steps(api, wf)) == (5, [1, 2, 3, 4, 5])
