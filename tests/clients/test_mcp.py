"""The MCP bridge over both transports, through the official client, on the live server."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, ResourceTemplateReference

from tests.clients.mcp_bridge import Doing, calls, content, http_bridge, over_http, over_stdio, parameters, run

JSON = {"Content-Type": "application/json"}
STATE = {"topic": "tides", "notes": ["the moon pulls"], "é": 1.5}


@pytest.fixture(scope="module")
def url(base_url: str) -> Iterator[str]:
    with http_bridge(base_url) as process:
        yield process.url


@pytest.fixture(params=["stdio", "stdio, handshake", "http", "http, handshake"])
def bridge(request: pytest.FixtureRequest, base_url: str, key: str, url: str) -> Callable[[Doing], Any]:
    """Both transports, with the protocol of 2026 and with that of 2025, which begins with a handshake."""
    mode = "legacy" if "handshake" in request.param else "auto"
    if request.param.startswith("stdio"):
        return lambda doing: run(over_stdio(parameters(base_url, key), mode), doing)
    return lambda doing: run(over_http(url, key, mode), doing)


def test_an_agent_saves_is_gone_and_resumes(bridge: Callable[[Doing], Any], api: httpx.Client) -> None:
    async def work(client: Any) -> list[dict[str, Any]]:
        nothing = await client.call_tool("resume_workflow", {"workflow_id": "tides"})
        first = await client.call_tool("save_checkpoint", {"workflow_id": "tides", "step": 1, "state": {}})
        again = await client.call_tool("save_checkpoint", {"workflow_id": "tides", "step": 1, "state": {}})
        more = {"label": "read", "agent_id": "a", "metadata": {"k": "v"}, "status": "completed"}
        second = {"workflow_id": "tides", "step": 2, "state": STATE, **more}
        last = await client.call_tool("save_checkpoint", second)
        return [content(nothing), content(first), content(again), content(last)]

    nothing, first, again, second = bridge(work)
    assert (nothing["found"], nothing["next_step"], nothing["state"]) == (False, 1, None)
    assert (first["already_saved"], again["already_saved"], again["etag"]) == (False, True, first["etag"])
    assert second["diff_from_previous"]["added"] == ["topic", "notes[0]", "é"]
    resumed = content(bridge(calls("resume_workflow", workflow_id="tides", agent_id="b")))
    names = ("found", "step", "next_step", "state", "label", "metadata", "agent_id", "status")
    assert [resumed[name] for name in names] == [True, 2, 3, STATE, "read", {"k": "v"}, "a", "completed"]
    assert api.get("/workflows/tides/resume").json()["latest_checkpoint"]["state"] == STATE


def test_a_long_history_is_followed_to_its_end(bridge: Callable[[Doing], Any], api: httpx.Client) -> None:
    for step in range(1, 61):
        api.post("/checkpoints", json={"workflow_id": "long", "step": step, "state": {"s": step, "x": "x" * 1000}})

    async def follow(client: Any) -> list[int]:
        steps: list[int] = []
        asked: dict[str, Any] = {"workflow_id": "long", "max_characters": 20_000}
        while True:
            result = await client.call_tool("get_workflow_history", asked)
            assert len(result.content[0].text) <= 20_000
            page = content(result)
            steps += [one["state"]["s"] for one in page["checkpoints"]]
            if not page["has_more"]:
                return steps
            asked["from_step"] = page["next_from_step"]

    assert bridge(follow) == list(range(1, 61))
    bare = content(bridge(calls("get_workflow_history", workflow_id="long", include_state=False)))
    assert ([one["step"] for one in bare["checkpoints"]], bare["has_more"]) == (list(range(1, 61)), False)


def test_workflows_are_listed_page_by_page(
    bridge: Callable[[Doing], Any], api: httpx.Client, intake: Callable[[], None]
) -> None:
    for name in ("list/a", "list/b", "list/c", "other"):
        status = "failed" if name == "list/b" else "active"
        api.post("/checkpoints", json={"workflow_id": name, "step": 1, "state": {}, "status": status})
    intake()

    async def follow(client: Any) -> list[dict[str, Any]]:
        pages = [content(await client.call_tool("list_workflows", {"id_prefix": "list/", "limit": 2}))]
        more = {"id_prefix": "list/", "limit": 2, "cursor": pages[0]["next_cursor"]}
        pages.append(content(await client.call_tool("list_workflows", more)))
        pages.append(content(await client.call_tool("list_workflows", {"status": "failed"})))
        return pages

    first, second, failed = bridge(follow)
    shown = [[one["workflow_id"] for one in page["workflows"]] for page in (first, second, failed)]
    assert shown == [["list/c", "list/b"], ["list/a"], ["list/b"]]
    assert (first["has_more"], second["has_more"], second["next_cursor"]) == (True, False, None)
    assert failed["workflows"][0]["resource"] == "snapstate://workflows/list%2Fb"


def test_workflows_are_found_by_the_facts_they_were_saved_with(
    bridge: Callable[[Doing], Any], intake: Callable[[], None]
) -> None:
    for number in (7, 8):
        facts = {"repo": "site", "pr": number}
        bridge(calls("save_checkpoint", workflow_id=f"review-{number}", step=1, state={}, metadata=facts))
    intake()
    found = content(bridge(calls("list_workflows", metadata={"repo": "site", "pr": 7})))
    assert [one["workflow_id"] for one in found["workflows"]] == ["review-7"]


def test_resources_are_listed_completed_and_read(
    bridge: Callable[[Doing], Any], api: httpx.Client, intake: Callable[[], None]
) -> None:
    text = '{ "e": 1E2 }'
    api.post("/checkpoints", content=f'{{"workflow_id": "read/1", "step": 12, "state": {text}}}', headers=JSON)
    intake()

    async def look(client: Any) -> list[Any]:
        recent = await client.read_resource("snapstate://workflows")
        [listed] = json.loads(recent.contents[0].text)["workflows"]
        one = await client.read_resource(listed["resource"])
        ref = ResourceTemplateReference(uri="snapstate://workflows/{workflow_id}")
        completed = await client.complete(ref, {"name": "workflow_id", "value": "read"})
        return [listed["workflow_id"], one.contents[0].text, one.contents[0].mime_type, completed.completion.values]

    name, read, mime, completed = bridge(look)
    assert (name, mime, completed) == ("read/1", "application/json", ["read/1"])
    assert read.endswith(f'"metadata":null,"state":{text}}}')
    assert json.loads(read)["step"] == 12
    resumed = api.get("/analytics/workflows/read%2F1").json()
    assert (resumed["resumed"], resumed["resumed_count"]) == (False, 0)


def test_an_agent_is_registered_and_renewed(bridge: Callable[[Doing], Any], api: httpx.Client) -> None:
    first = {"agent_id": "r:1", "name": "R", "capabilities": ["read"], "metadata": {"k": [1]}}
    assert content(bridge(calls("register_agent", **first)))["capabilities"] == ["read"]
    renewed = content(bridge(calls("register_agent", agent_id="r:1", name="R2", description="reads")))
    assert (renewed["name"], renewed["description"], renewed["metadata"]) == ("R2", "reads", {"k": [1]})
    assert api.get("/agents/r:1").json()["name"] == "R2"


def test_the_prompt_teaches_with_what_was_given(bridge: Callable[[Doing], Any]) -> None:
    given = {"workflow_id": "wf {x}", "task": "Count {all} of them."}
    prompt = bridge(lambda client: client.get_prompt("checkpoint_as_you_go", given))
    text = prompt.messages[0].content.text
    assert "Task: Count {all} of them.\nWorkflow id: wf {x}" in text
    assert {"resume_workflow", "save_checkpoint", "next_step"} <= set(re.findall(r"\w+", text))


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("checkpoint_as_you_go", {}, ["- workflow_id: is required", "- task: is required"]),
        ("checkpoint_as_you_go", {"workflow_id": "w"}, ["- task: is required and was not given."]),
        ("checkpoint_as_you_go", {"workflow_id": "w", "tsk": "t", "task": "t"}, ["- tsk: there is no such", "`task`?"]),
        ("checkpoint", {}, ['There is no prompt the string "checkpoint". There are: checkpoint_as_you_go.']),
    ],
)
def test_a_prompt_asked_for_wrongly_is_told_so(
    bridge: Callable[[Doing], Any], name: str, given: dict[str, str], told: list[str]
) -> None:
    async def ask(client: Any) -> MCPError:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, given)
        return caught.value

    error = bridge(ask)
    assert error.code == INVALID_PARAMS
    assert [part for part in told if part not in error.message] == []
