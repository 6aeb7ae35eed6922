"""What goes wrong is told by the MCP bridge so that a model can mend it: on the live server, one bridge for all."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from accounts import services
from accounts.models import Account
from snapstate_project.dev.server import free_port
from tests.clients.mcp_bridge import calls, content, http_bridge, over_http, over_stdio, parameters, refusal, run

MIB = 1 << 20


@pytest.fixture(scope="module")
def url(base_url: str) -> Iterator[str]:
    with http_bridge(base_url) as process:
        yield process.url


def refused(url: str, key: str, tool: str, **arguments: Any) -> str:
    return refusal(run(over_http(url, key), calls(tool, **arguments)))


def save(url: str, key: str, step: Any, state: Any, **more: Any) -> Any:
    return run(over_http(url, key), calls("save_checkpoint", workflow_id="wf", step=step, state=state, **more))


def test_a_conflict_tells_what_is_there_where_the_head_is_and_what_to_do(url: str, key: str) -> None:
    first, second = content(save(url, key, 1, {"a": 1})), content(save(url, key, 2, {"a": 2}))
    told = refusal(save(url, key, 1, {"a": 9}))
    assert f"It is cp_wf_001 with the etag {first['etag']}." in told
    assert f"The newest step is 2 (etag {second['etag']}), so the next one is 3." in told
    assert "Nothing was saved (409): step 1 holds other contents" in told
    assert "resume_workflow" in told
    assert content(save(url, key, 3, {"a": 9}))["next_step"] == 4


def test_what_is_too_large_is_told_with_its_size(url: str, key: str) -> None:
    told = refusal(save(url, key, 1, {"a": "x" * MIB}))
    assert "Too large (413)" in told
    assert "The state has 1,048,584 bytes." in told
    assert "1,048,576 bytes" in told
    kept = "x" * (MIB - len('{"a":""}'))
    assert content(save(url, key, 1, {"a": kept}))["size_bytes"] == MIB
    assert content(run(over_http(url, key), calls("resume_workflow", workflow_id="wf")))["state"] == {"a": kept}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"workflow_id": "..", "step": 1, "state": {}}, "- workflow_id: "),
        ({"workflow_id": "a\nb", "step": 1, "state": {}}, "- workflow_id: "),
        ({"workflow_id": "a", "step": 1, "state": {}, "agent_id": "no spaces"}, "- agent_id: "),
        ({"workflow_id": "a", "step": 2**53, "state": {}}, "less than or equal to 9007199254740991"),
        ({"workflow_id": "a", "step": 1, "state": {"a": {"b": "\x00"}}, "metadata": {"k": "x" * 70_000}}, "metadata"),
        ({"workflow_id": "a", "step": 1, "state": {}, "error": {"type": "t" * 101, "message": ""}}, "- error.type: "),
    ],
)
def test_what_the_api_refuses_is_told_by_its_place(url: str, key: str, arguments: dict[str, Any], told: str) -> None:
    assert told in refused(url, key, "save_checkpoint", **arguments)


def test_a_key_that_is_no_good_is_told_with_where_it_goes(url: str, base_url: str, key: str) -> None:
    wrong = "snp_" + "0" * 32
    assert "Authorization: Bearer snp_" in refused(url, wrong, "list_workflows")
    for given in (wrong, "", "ключ"):
        told = refusal(run(over_stdio(parameters(base_url, given)), calls("list_workflows")))
        assert "SNAPSTATE_API_KEY" in told
        assert key not in told


def test_a_key_without_the_scope_is_told_so(url: str, account: Account) -> None:
    reader = services.issue_key(account, scopes=["checkpoints:read"])[1]
    assert "checkpoints:write" in refused(url, reader, "save_checkpoint", workflow_id="a", step=1, state={})
    assert "agents:manage" in refused(url, reader, "register_agent", agent_id="a", name="A")


def test_too_many_calls_are_told_with_when_to_call_again(url: str, make_account: Callable[..., Account]) -> None:
    key = services.issue_key(make_account(rate_limit_max=1))[1]
    content(run(over_http(url, key), calls("list_workflows")))
    told = refused(url, key, "list_workflows")
    assert told.startswith("Too many calls (429): call again in ")
    assert 1 <= int(told.split("call again in ")[1].split()[0]) <= 60


def test_an_address_with_a_path_too_many_is_told_instead_of_that_nothing_is_saved(base_url: str, key: str) -> None:
    wrong = over_stdio(parameters(f"{base_url}/v1", key))
    told = refusal(run(wrong, calls("resume_workflow", workflow_id="wf")))
    assert f"There is nothing at {base_url}/v1" in told
    assert "SNAPSTATE_API_URL" in told


def test_a_server_that_is_not_there_is_told_by_its_url(key: str) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    told = refusal(
        run(over_stdio(parameters(nowhere, key)), calls("save_checkpoint", workflow_id="a", step=1, state={}))
    )
    assert f"SnapState at {nowhere} cannot be reached" in told
    assert "SNAPSTATE_API_URL" in told


def test_numbers_objects_and_lists_that_arrive_as_text_are_understood(url: str, key: str, api: httpx.Client) -> None:
    error = json.dumps({"type": "Timeout", "message": "m"})
    saved = content(save(url, key, "7", '{"a": 1}', metadata='{"k": "v"}', error=error, ttl_seconds="60", label=""))
    assert saved["step"] == 7
    kept = api.get("/checkpoints/cp_wf_007").json()
    assert (kept["state"], kept["metadata"], kept["error"]["type"]) == ({"a": 1}, {"k": "v"}, "Timeout")
    assert kept["label"] is None
    agent = {"agent_id": "a", "name": "A", "capabilities": '["read", "write"]'}
    assert content(run(over_http(url, key), calls("register_agent", **agent)))["capabilities"] == ["read", "write"]
    asked = {"workflow_id": "wf", "from_step": "7", "include_state": "false", "to_step": None}
    history = content(run(over_http(url, key), calls("get_workflow_history", **asked)))
    assert [(one["step"], one["state"]) for one in history["checkpoints"]] == [(7, None)]
