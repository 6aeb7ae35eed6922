"""Answers: the same as text and as structure, cut to what fits, and every failure in words that mend it."""

import json
from typing import Any

import pytest

AT = "2026-11-29T18:33:11.123Z"


def checkpoint(step: int, state: Any = None, **more: Any) -> dict[str, Any]:
    head = {"checkpoint_id": f"cp_wf_{step:03d}", "step": step, "label": None, "state": state or {}, "metadata": {}}
    return {**head, "agent_id": None, "etag": '"1-1-a"', "created_at": AT, "size_bytes": 2, **more}


def page(checkpoints: list[Any], *, more: bool = False) -> dict[str, Any]:
    cursor = "c" if more else None
    return {"workflow_id": "wf", "checkpoints": checkpoints, "total": 1, "has_more": more, "next_cursor": cursor}


def failure(code: str, message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "request_id": "r-1", **more}}


def test_text_and_structure_say_the_same(call: Any) -> None:
    result = call("save_checkpoint", workflow_id="wf", step=1, state={})
    assert json.loads(result.content[0].text) == result.structured_content
    assert "\n" not in result.content[0].text
    assert result.structured_content["next_step"] == 2


def test_a_long_diff_is_cut(api: Any, call: Any) -> None:
    paths = [f"k{number}" + "x" * 20_000 for number in range(30)]
    saved = {"checkpoint_id": "cp_wf_002", "workflow_id": "wf", "step": 2, "etag": '"e"', "created_at": AT}
    api.script = [
        (201, {**saved, "size_bytes": 2, "diff_from_previous": {"added": paths, "removed": [], "changed": ["a"]}})
    ]
    diff = call("save_checkpoint", workflow_id="wf", step=2, state={}).structured_content["diff_from_previous"]
    assert ([len(path) for path in diff["added"]], diff["changed"], diff["not_shown"]) == ([200] * 20, ["a"], 10)


def test_nothing_saved_yet_is_an_answer(api: Any, call: Any) -> None:
    api.script = [(404, failure("NOT_FOUND", "No such workflow"))]
    answer = call("resume_workflow", workflow_id="wf")
    assert not answer.is_error
    assert (answer.structured_content["found"], answer.structured_content["next_step"]) == (False, 1)
    assert "Nothing is saved under this id yet" in answer.structured_content["what_now"]


def test_a_history_is_cut_to_whole_checkpoints_and_says_where_it_goes_on(api: Any, call: Any) -> None:
    api.script = [(200, page([checkpoint(step, {"a": "x" * 1000}) for step in (1, 2, 5, 9)]))]
    result = call("get_workflow_history", workflow_id="wf", max_characters=3000)
    assert [one["step"] for one in result.structured_content["checkpoints"]] == [1, 2]
    assert (result.structured_content["has_more"], result.structured_content["next_from_step"]) == (True, 3)
    assert len(result.content[0].text) <= 3000


def test_a_page_of_the_api_that_ends_early_is_pointed_on_from_as_well(api: Any, call: Any) -> None:
    api.script = [(200, page([checkpoint(3), checkpoint(4)], more=True))]
    history = call("get_workflow_history", workflow_id="wf").structured_content
    assert (history["has_more"], history["next_from_step"]) == (True, 5)


@pytest.mark.parametrize(
    ("state", "metadata", "left_out"),
    [
        ({"a": "x" * 5000}, {}, ["state"]),
        ({}, {"a": "x" * 5000}, ["state", "metadata"]),
        ({"a": "x" * 5000}, {"a": "x" * 5000}, ["state", "metadata"]),
        ({"a": "x"}, {"a": "y"}, []),
    ],
)
def test_one_checkpoint_is_shown_always_without_what_is_too_large(
    api: Any, call: Any, state: Any, metadata: Any, left_out: list[str]
) -> None:
    api.script = [(200, page([checkpoint(1, state, metadata=metadata), checkpoint(2)]))]
    history = call("get_workflow_history", workflow_id="wf", max_characters=2000).structured_content
    assert history["checkpoints"][0]["left_out"] == left_out
    assert history["checkpoints"][0]["size_bytes"] == 2
    assert history["checkpoints"][0]["state"] == (None if "state" in left_out else state)


def test_a_history_can_show_the_largest_state_there_is(api: Any, call: Any) -> None:
    state = {"a": "x" * (2**20 - 8)}
    api.script = [(200, page([checkpoint(1, state)]))]
    (shown,) = call("get_workflow_history", workflow_id="wf", max_characters=2_000_000).structured_content[
        "checkpoints"
    ]
    assert (shown["state"] == state, shown["left_out"]) == (True, [])


@pytest.mark.parametrize(
    ("status", "answer", "told"),
    [
        (
            400,
            failure("VALIDATION_ERROR", "no", details=[{"path": "state.a", "message": "too odd"}]),
            "- state.a: too odd",
        ),
        (400, failure("MAX_AGENTS_REACHED", "50 agents"), "SnapState refused this (400): 50 agents"),
        (401, failure("UNAUTHORIZED", "no"), "Set SNAPSTATE_API_KEY in the environment"),
        (403, failure("FORBIDDEN", "The key lacks checkpoints:write."), "lacks checkpoints:write. Use a key with"),
        (404, failure("NOT_FOUND", "Gone."), "There is no such thing in this account (404): Gone."),
        (413, failure("PAYLOAD_TOO_LARGE", "Too large."), "The state has 7 bytes. A state may have 1,048,576 bytes"),
        (500, failure("INTERNAL_ERROR", "Oh."), "SnapState answered 500: Oh. (request r-1)"),
        (418, b"short and stout", "SnapState answered 418: short and stout"),
        (302, b"", "is that the base_url?"),
    ],
)
def test_a_failure_is_told_in_words_that_mend_it(api: Any, call: Any, status: int, answer: Any, told: str) -> None:
    api.script = [(status, answer)] * 4
    result = call("save_checkpoint", workflow_id="wf", step=1, state={"a": 1})
    assert result.is_error
    assert told in result.content[0].text


def test_a_conflict_is_told_even_when_the_head_cannot_be_read(api: Any, call: Any) -> None:
    existing = {"existing": {"checkpoint_id": "cp_wf_001", "etag": '"1-1-b"'}}
    api.script = [(409, {**failure("CONFLICT", "no"), **existing}), (500, failure("INTERNAL_ERROR", "Oh."))]
    told = call("save_checkpoint", workflow_id="wf", step=1, state={"a": 1}).content[0].text
    assert 'It is cp_wf_001 with the etag "1-1-b".' in told
    assert "The newest step is" not in told


def test_a_short_outage_is_not_told_at_all(api: Any, call: Any) -> None:
    api.script = [(503, failure("SERVICE_UNAVAILABLE", "Wait."))] * 2
    assert not call("save_checkpoint", workflow_id="wf", step=1, state={}).is_error
    assert len(api.seen) == 3


def test_a_longer_one_is(api: Any, call: Any) -> None:
    api.script = [(503, failure("SERVICE_UNAVAILABLE", "Wait."))] * 4
    told = call("save_checkpoint", workflow_id="wf", step=1, state={}).content[0].text
    assert told == "SnapState cannot do this right now (503): Wait. Call again in 5 seconds."


def test_an_answer_that_is_none_is_told(api: Any, call: Any) -> None:
    api.script = [(200, b"<html>hello</html>")] * 4
    told = call("save_checkpoint", workflow_id="wf", step=1, state={}).content[0].text
    assert f"SnapState at {api.url} cannot be reached" in told


def test_a_fault_of_our_own_is_told_without_its_words(api: Any, call: Any) -> None:
    saved = {"checkpoint_id": "cp_wf_001", "workflow_id": "wf", "step": "hunter2", "etag": "e", "created_at": AT}
    api.script = [(201, {**saved, "size_bytes": 2})]
    result = call("save_checkpoint", workflow_id="wf", step=1, state={})
    assert result.is_error
    assert result.content[0].text == "save_checkpoint failed by a fault of this MCP server; its log says where."
