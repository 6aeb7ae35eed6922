"""What this process saved last is compared with, when it is still the head, and only then."""

import uuid
from uuid import UUID

import httpx
import msgspec
import pytest

from checkpoints import services
from checkpoints.diff import Members
from checkpoints.ids import WorkflowKey, workflow_key
from checkpoints.recent import (
    MOST_BYTES_A_STATE,
    MOST_MEMBERS,
    MOST_NAME_CHARACTERS,
    RecentStates,
    Revision,
    worth_keeping,
)
from tests.checkpoints.steps import save


@pytest.fixture
def place(account) -> WorkflowKey:
    return workflow_key(account.id, "wf")


def changed(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 201, answer.text
    return list(answer.json()["diff_from_previous"]["changed"])


def test_the_next_save_is_compared_with_what_was_saved_last(api: httpx.Client, place: WorkflowKey) -> None:
    save(api, "wf", 1, {"a": 1, "b": 1})
    held = services.recent.get(place)
    assert held is not None
    assert held.state == b'{"a":1,"b":1}'
    assert changed(save(api, "wf", 2, {"a": 2, "b": 1})) == ["a"]


def test_what_another_process_saved_meanwhile_is_compared_with_instead(api: httpx.Client, place: WorkflowKey) -> None:
    save(api, "wf", 1, {"a": 1, "b": 1})
    ours = services.recent.get(place)
    save(api, "wf", 2, {"a": 1, "b": 2})
    assert ours is not None
    services.recent.put(place, ours)  # as in a process that has not seen step 2
    assert changed(save(api, "wf", 3, {"a": 1, "b": 3})) == ["b"]
    services.recent.put(place, ours)
    assert changed(save(api, "wf", 4, {"a": 4, "b": 3})) == ["a"]


def test_a_replaced_head_is_what_the_next_is_compared_with(api: httpx.Client, place: WorkflowKey) -> None:
    etag = save(api, "wf", 1, {"a": 1}).headers["ETag"]
    save(api, "wf", 1, {"a": 2}, headers={"If-Match": etag})
    assert changed(save(api, "wf", 2, {"a": 2, "b": 1})) == []


def test_a_late_step_is_not_what_the_next_is_compared_with(api: httpx.Client, place: WorkflowKey) -> None:
    save(api, "wf", 5, {"a": 5})
    save(api, "wf", 1, {"a": 6})
    assert changed(save(api, "wf", 6, {"a": 6})) == ["a"]


def test_an_erased_workflow_is_forgotten_and_begins_anew(api: httpx.Client, place: WorkflowKey) -> None:
    save(api, "wf", 1, {"a": 1})
    assert api.delete("/workflows/wf").status_code == 204
    assert services.recent.get(place) is None
    assert save(api, "wf", 2, {"a": 1}).json()["diff_from_previous"]["added"] == ["a"]


def test_who_wants_no_diff_gets_none_and_is_remembered_all_the_same(api: httpx.Client, place: WorkflowKey) -> None:
    answer = save(api, "wf", 1, {"a": 1}, headers={"Prefer": "return=minimal"})
    assert "diff_from_previous" not in answer.json()
    assert changed(save(api, "wf", 2, {"a": 2})) == ["a"]


def named(number: int) -> WorkflowKey:
    return workflow_key(UUID(int=number), "wf")


def test_the_oldest_make_room_for_the_newest() -> None:
    states = RecentStates(most_bytes=10 * Revision(1, 1, b"x" * 10).weight)
    for number in range(11):
        states.put(named(number), Revision(1, number, b"x" * 10))
    assert states.get(named(0)) is None
    assert states.get(named(1)) is not None
    assert states.bytes == states.most_bytes


@pytest.mark.parametrize(
    ("state", "is_kept"),
    [
        ({str(number): 1 for number in range(MOST_MEMBERS)}, True),
        ({str(number): 1 for number in range(MOST_MEMBERS + 1)}, False),
        ({"n" * MOST_NAME_CHARACTERS: 1}, True),
        ({"n" * MOST_NAME_CHARACTERS: 1, "m": 1}, False),
        ({"text": "x" * (MOST_BYTES_A_STATE - 11)}, True),
        ({"text": "x" * (MOST_BYTES_A_STATE - 10)}, False),
    ],
)
def test_a_state_is_kept_apart_unless_that_takes_much_memory(state: dict[str, object], is_kept: bool) -> None:
    text = msgspec.json.encode(state)
    assert (worth_keeping(Members(text), text) is not None) is is_kept


def test_what_a_state_taken_apart_needs_is_counted() -> None:
    states, state = RecentStates(), b'{"a":1,"b":2}'
    states.put(named(1), Revision(1, 1, state))
    whole = states.bytes
    states.put(named(1), Revision(1, 2, state, Members(state)))
    assert states.bytes >= whole + 2 * 100


def test_the_comparison_goes_on_from_what_was_taken_apart(api: httpx.Client, place: WorkflowKey) -> None:
    for step in range(1, 4):
        save(api, "wf", step, {"log": [1] * step, "n": step})
    held = services.recent.get(place)
    assert held is not None
    assert held.members is not None
    assert held.members.lengths == {"log": 3}
    many = {str(number): 1 for number in range(MOST_MEMBERS + 1)}
    save(api, "wf", 4, many)
    held = services.recent.get(place)
    assert held is not None
    assert held.members is None
    assert changed(save(api, "wf", 5, {**many, "7": 2})) == ["7"]


def test_a_state_that_is_put_again_counts_once() -> None:
    states = RecentStates()
    for size in (40, 60, 20):
        states.put(named(1), Revision(1, size, b"x" * size))
    assert states.bytes == Revision(1, 20, b"x" * 20).weight


def test_a_large_state_is_not_kept_and_forgets_the_smaller_before_it() -> None:
    states, key = RecentStates(), workflow_key(uuid.uuid4(), "wf")
    states.put(key, Revision(1, 1, b"{}"))
    states.put(key, Revision(1, 2, b"x" * (MOST_BYTES_A_STATE + 1)))
    assert states.get(key) is None
    assert states.bytes == 0
