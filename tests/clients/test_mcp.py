"""The MCP bridge over both transports, through the official client, on the live server."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.clients.mcp_bridge import Doing, calls, content, http_bridge, over_http, over_stdio, parameters, run

TOOLS = {"save_checkpoint", "resume_workflow", "get_workflow_history", "register_agent", "list_workflows"}
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
