"""Arguments: what has one meaning is understood, everything else is refused before anything is sent."""

import json
from typing import Any

import pytest

GOOD: dict[str, Any] = {"workflow_id": "wf", "step": 1, "state": {"a": 1}}


def body(api: Any) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(api.seen[-1][2])
    return read


@pytest.mark.parametrize(
    ("name", "given", "sent"),
    [
        ("step", "7", 7),
        ("step", " 7 ", 7),
        ("step", 7.0, 7),
        ("step", 0, 0),
        ("state", '{"a": 1}', {"a": 1}),
        ("state", ' {"a": [1.0, 1E2]}\n', {"a": [1.0, 100.0]}),
        ("metadata", '{"k": "v"}', {"k": "v"}),
        ("error", '{"type": "T", "message": "m"}', {"type": "T", "message": "m"}),
        ("label", "[1]", "[1]"),
        ("label", "null", "null"),
        ("label", '{"a": 1}', '{"a": 1}'),
        ("label", "7", "7"),
        ("workflow_id", '{"a": 1}', '{"a": 1}'),
        ("agent_id", "true", "true"),
        ("status", "failed", "failed"),
        ("status", "", "active"),
        ("status", None, "active"),
    ],
)
def test_what_has_one_meaning_is_understood(api: Any, call: Any, name: str, given: Any, sent: Any) -> None:
    assert not call("save_checkpoint", **{**GOOD, name: given}).is_error
    assert body(api)[name] == sent
    assert type(body(api)[name]) is type(sent)


@pytest.mark.parametrize("name", ["label", "agent_id", "metadata", "error", "ttl_seconds"])
@pytest.mark.parametrize("given", [None, ""])
def test_null_and_nothing_are_what_was_left_out(api: Any, call: Any, name: str, given: Any) -> None:
    assert not call("save_checkpoint", **{**GOOD, name: given}).is_error
    assert name not in body(api)


def test_text_of_a_state_is_sent_as_it_is(api: Any, call: Any) -> None:
    text = '{ "e" : 1E2, "z": -0.0,\n "id": 9007199254740993, "a": "\\u00e9" }'
    assert not call("save_checkpoint", **{**GOOD, "state": text}).is_error
    assert text.encode() in api.seen[-1][2]


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("step", "seven", '- step: expected a whole number; got the string "seven".'),
        ("step", 1.5, "- step: expected a whole number; got 1.5."),
        ("step", True, "- step: expected a whole number; got true."),
        ("step", "", '- step: expected a whole number; got the string "".'),
        ("step", None, "- step: expected a whole number; got null."),
        ("step", -1, "- step: Input should be greater than or equal to 0; got -1."),
        ("step", "9007199254740992", "less than or equal to 9007199254740991"),
        ("step", [1], "- step: expected a whole number; got an array."),
        ("state", "hunter2", "this text is no JSON (Expecting value, character 0); got text of 7 characters."),
        ("state", '"hunter2"', "- state: expected an object; this text is the JSON of a string; got text of 9"),
        ("state", ["hunter2"], "- state: expected an object; got an array."),
        ("state", None, "- state: expected an object; got null."),
        ("state", "", "- state: expected an object, or its JSON; this text is no JSON"),
        ("metadata", 7, "- metadata: expected an object; got a number."),
        ("error", "hunter2", "- error: expected an object, or its JSON; this text is no JSON"),
        ("error", {"type": "hunter2"}, "- error.message: is required and was not given."),
        ("error", {"type": "T", "message": "m", "x": "hunter2"}, "- error.x: Extra inputs are not permitted; got text"),
        ("workflow_id", "", '- workflow_id: String should have at least 1 character; got the string "".'),
        ("workflow_id", 7, "- workflow_id: expected a string; got 7."),
        ("workflow_id", "x" * 256, "- workflow_id: String should have at most 255 characters; got text of 256"),
        ("label", "x" * 257, "- label: String should have at most 256 characters; got text of 257 characters."),
        ("status", "done", "- status: Input should be 'active', 'completed' or 'failed'; got the string \"done\"."),
        ("ttl_seconds", "0", "- ttl_seconds: Input should be greater than or equal to 1; got "),
        ("workflowId", "wf", "- workflowId: there is no such argument; did you mean `workflow_id`?"),
        ("x", "hunter2", "- x: there is no such argument. There are: workflow_id, step, state,"),
    ],
)
def test_the_rest_is_refused_in_words_that_mend_it(api: Any, call: Any, name: str, given: Any, told: str) -> None:
    result = call("save_checkpoint", **{**GOOD, name: given})
    assert result.is_error
    assert told in result.content[0].text
    assert "hunter2" not in result.content[0].text
    assert api.seen == []


def test_every_fault_is_told_at_once(api: Any, call: Any) -> None:
    told = call("save_checkpoint", step="x", state=1, stat={}).content[0].text.splitlines()
    assert [line.split(":")[0] for line in told[1:]] == ["- stat", "- workflow_id", "- step", "- state"]
    assert api.seen == []


def test_lists_and_flags_that_arrive_as_text_are_understood(api: Any, call: Any) -> None:
    api.script = [(201, {"agent_id": "a", "name": "A", "capabilities": ["x"]}), (200, page([]))]
    assert not call("register_agent", agent_id="a", name="A", capabilities='["x"]').is_error
    assert body(api)["capabilities"] == ["x"]
    assert not call("get_workflow_history", workflow_id="wf", include_state="False", from_step="3").is_error
    assert api.seen[-1][1] == "/workflows/wf/replay?from_step=3&limit=200&include_state=false"


@pytest.mark.parametrize(
    ("metadata", "asked"),
    [
        (
            {"repo": "a/b", "pr": 7, "ok": True, "no": None},
            "metadata.repo=a%2Fb&metadata.pr=7&metadata.ok=true&metadata.no=null",
        ),
        ('{"repo": "a"}', "metadata.repo=a"),
        ({}, ""),
    ],
)
def test_workflows_are_asked_for_by_their_metadata(api: Any, call: Any, metadata: Any, asked: str) -> None:
    api.script = [(200, {"workflows": [], "has_more": False, "next_cursor": None})]
    assert not call("list_workflows", metadata=metadata).is_error
    assert api.seen[-1][1] == f"/workflows?limit=20{asked and '&'}{asked}"


def test_models_are_told_of_late_steps_and_of_empty_histories(ask: Any) -> None:
    """Neither is an error, so nothing else would tell them."""
    tools = {tool.name: tool for tool in ask(lambda client: client.list_tools()).tools}
    step = tools["save_checkpoint"].input_schema["properties"]["step"]["description"]
    assert "Resuming gives the highest step: one below it goes into the history" in step
    assert "or nothing is saved under this id" in tools["get_workflow_history"].description


def page(checkpoints: list[Any]) -> dict[str, Any]:
    return {"workflow_id": "wf", "checkpoints": checkpoints, "total": 0, "has_more": False, "next_cursor": None}


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("register_agent", {"agent_id": "a", "name": "A", "capabilities": "x"}, "- capabilities: expected an array"),
        ("register_agent", {"agent_id": "a", "name": "A", "capabilities": ["x", 1]}, "- capabilities.1: "),
        (
            "get_workflow_history",
            {"workflow_id": "a", "include_state": "no"},
            "- include_state: expected true or false",
        ),
        ("get_workflow_history", {"workflow_id": "a", "max_characters": 10}, "greater than or equal to 1000; got 10."),
        ("list_workflows", {"limit": 201}, "- limit: Input should be less than or equal to 200; got 201."),
        (
            "list_workflows",
            {"status": "done"},
            "- status: Input should be 'active', 'completed', 'failed' or 'stalled'",
        ),
        ("list_workflows", {"metadata": {"pr": [7]}}, "- metadata: expected an object of strings, numbers"),
        ("resume_workflow", {}, "- workflow_id: is required and was not given."),
    ],
)
def test_the_other_tools_say_it_likewise(api: Any, call: Any, tool: str, arguments: Any, told: str) -> None:
    result = call(tool, **arguments)
    assert result.is_error
    assert told in result.content[0].text
    assert api.seen == []
