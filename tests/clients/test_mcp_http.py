"""The MCP bridge over HTTP: whoever has no key sees nothing, whoever has one sees only what is theirs."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.clients.mcp_bridge import HttpBridge, calls, content, http_bridge, over_http, refusal, run

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
BOTH = {"Accept": "application/json, text/event-stream"}
SECRET = "what-nobody-else-may-read"


@pytest.fixture(scope="module")
def bridge(base_url: str) -> Iterator[HttpBridge]:
    with http_bridge(base_url) as process:
        yield process


def post(bridge: HttpBridge, **headers: str) -> httpx.Response:
    return httpx.post(bridge.url, json=INITIALIZE, headers={**BOTH, **headers}, trust_env=False, timeout=30)


@pytest.mark.parametrize("header", ["", "Bearer", "Basic c25wXzE6", "snp_" + "0" * 32, "Bearer a b"])
def test_a_request_without_a_key_is_401(bridge: HttpBridge, header: str) -> None:
    for answer in (
        post(bridge, **({"Authorization": header} if header else {})),
        httpx.get(bridge.url, headers={"Authorization": header}, trust_env=False),
        httpx.delete(bridge.url, headers={"Authorization": header}, trust_env=False),
    ):
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert "Authorization: Bearer snp_" in answer.json()["error"]["message"]


def test_a_page_of_another_name_is_refused(bridge: HttpBridge, key: str) -> None:
    own = {"Authorization": f"Bearer {key}"}
    assert post(bridge, **own).status_code == 200
    assert post(bridge, **own, Host="evil.example:80").status_code == 421
    assert post(bridge, **own, Origin="http://evil.example").status_code == 403
    assert post(bridge, **own, Origin=f"http://localhost:{urlsplit(bridge.url).port}").status_code == 200


def test_hosts_and_origins_can_be_allowed(base_url: str, key: str) -> None:
    allowed = ["--allow-host", "mcp.example.com", "--allow-origin", "https://app.example.com"]
    with http_bridge(base_url, *allowed) as bridge:
        named = {"Host": "mcp.example.com", "Origin": "https://app.example.com", "Authorization": f"Bearer {key}"}
        assert post(bridge, **named).status_code == 200
        assert post(bridge, **{**named, "Host": "mcp.example.org"}).status_code == 421
        assert may_read(bridge, "https://app.example.com")


def may_read(bridge: HttpBridge, origin: str) -> bool:
    """What a browser asks before a page of this origin calls."""
    names = "authorization,content-type,mcp-protocol-version"
    asks = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": names}
    answer = httpx.options(bridge.url, headers=asks, trust_env=False)
    allowed = [answer.headers.get(f"Access-Control-Allow-{name}", "") for name in ("Origin", "Headers")]
    return answer.status_code == 200 and allowed[0] == origin and names in allowed[1].lower()


def test_a_page_of_this_machine_may_read_what_it_asks_for_and_no_other(bridge: HttpBridge, key: str) -> None:
    own = {"Authorization": f"Bearer {key}"}
    for origin in ("http://localhost:3000", "http://127.0.0.1"):
        assert may_read(bridge, origin)
        assert post(bridge, **own, Origin=origin).headers["Access-Control-Allow-Origin"] == origin
        assert post(bridge, Origin=origin).headers["Access-Control-Allow-Origin"] == origin
    for origin in ("http://evil.example", "http://localhost.evil.example", "http://localhost:3000.evil.example"):
        assert not may_read(bridge, origin)


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (r'{"state": {"t": "\ud83d"}}', 400, '"code":-32700'),
        ('{"state": ' + "[" * 100_000, 400, '"code":-32700'),
        ('{"state": "' + "x" * (9 << 20) + '"}', 413, "too large"),
        ('{"state": {"x": [1, NaN]}}', 200, "- state.x[1]: "),
        ('{"state": {"x": 1e400}}', 200, "- state.x: "),
    ],
    ids=["half a surrogate pair", "deep", "large", "NaN", "1e400"],
)
def test_what_is_no_json_is_answered_at_once(bridge: HttpBridge, key: str, body: str, status: int, told: str) -> None:
    arguments = '{"workflow_id":"wf","step":1,' + body.removeprefix("{")
    params = f'{{"name":"save_checkpoint","arguments":{arguments}}}'
    call = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'
    headers = {**BOTH, "Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    answer = httpx.post(bridge.url, content=call, headers=headers, trust_env=False, timeout=30)
    assert (answer.status_code, told in answer.text) == (status, True), answer.text[:300]


def test_health_needs_no_key(bridge: HttpBridge) -> None:
    answer = httpx.get(bridge.url.replace("/mcp", "/health"), trust_env=False)
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


@pytest.mark.parametrize(
    ("host", "reason"), [("127.0.0.1", "Address already in use"), ("192.0.2.1", "Cannot assign"), ("no.invalid", "N")]
)
def test_where_nothing_can_listen_is_told_in_a_sentence(bridge: HttpBridge, host: str, reason: str) -> None:
    taken = str(urlsplit(bridge.url).port)
    command = [sys.executable, "-m", "snapstate_mcp", "--http", "--host", host, "--port", taken]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1), ran.stderr
    assert ran.stderr.startswith(f"snapstate-mcp: cannot listen on {host}, port {taken}: {reason}")


def test_two_callers_at_once_see_only_their_own(bridge: HttpBridge, key: str, stranger: str) -> None:
    """Both use the same ids, over the same server, in calls that overlap."""

    async def work(owner: str, token: str) -> list[Any]:
        async with over_http(bridge.url, token) as client:
            for step in range(1, 11):
                arguments = {"workflow_id": "shared", "step": step, "state": {"owner": owner, "step": step}}
                content(await client.call_tool("save_checkpoint", arguments))
            history = content(await client.call_tool("get_workflow_history", {"workflow_id": "shared"}))
            read = await client.read_resource("snapstate://workflows/shared")
            return [*(one["state"] for one in history["checkpoints"]), json.loads(read.contents[0].text)["state"]]

    async def both() -> tuple[list[Any], list[Any]]:
        return await asyncio.gather(work("one", key), work("two", stranger))

    for owner, states in zip(("one", "two"), asyncio.run(both()), strict=True):
        assert states == [{"owner": owner, "step": step} for step in (*range(1, 11), 10)]


def test_a_strangers_workflow_is_not_there(bridge: HttpBridge, key: str, stranger: str) -> None:
    content(run(over_http(bridge.url, key), calls("save_checkpoint", workflow_id="mine", step=1, state={"s": SECRET})))

    async def look(client: Any) -> list[Any]:
        named = {"workflow_id": "mine"}
        resumed = content(await client.call_tool("resume_workflow", named))
        history = content(await client.call_tool("get_workflow_history", named))
        with pytest.raises(Exception, match="Nothing is saved under the workflow id 'mine'"):
            await client.read_resource("snapstate://workflows/mine")
        listed = content(await client.call_tool("list_workflows", {}))
        recent = await client.read_resource("snapstate://workflows")
        return [resumed["found"], history["checkpoints"], listed["workflows"], json.loads(recent.contents[0].text)]

    nothing = {"workflows": [], "has_more": False, "next_cursor": None}
    assert run(over_http(bridge.url, stranger), look) == [False, [], [], nothing]


def test_a_session_is_of_the_key_that_opened_it(base_url: str, key: str, stranger: str) -> None:
    with http_bridge(base_url, "--sessions") as bridge:
        session = post(bridge, Authorization=f"Bearer {key}").headers["Mcp-Session-Id"]
        headers = {**BOTH, "Mcp-Session-Id": session}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        for token, status in ((key, 200), (stranger, 404)):
            own = {**headers, "Authorization": f"Bearer {token}"}
            assert httpx.post(bridge.url, json=ping, headers=own, trust_env=False).status_code == status


def test_logs_are_lines_without_keys_and_states(base_url: str, key: str) -> None:
    with http_bridge(base_url, "--log-level", "DEBUG") as bridge:
        state = {"workflow_id": "logged", "step": 1, "state": {"s": SECRET}, "metadata": {"m": SECRET}}
        content(run(over_http(bridge.url, key), calls("save_checkpoint", **state)))
        refusal(run(over_http(bridge.url, key), calls("save_checkpoint", **{**state, "state": {"s": SECRET + "2"}})))
        refusal(run(over_http(bridge.url, key), calls("save_checkpoint", **{**state, "state": f'{{"s": {SECRET}'})))
        refusal(run(over_http(bridge.url, key), calls("resume_workflow", **state)))
        assert content(run(over_http(bridge.url, key), calls("resume_workflow", workflow_id="logged")))["found"]
        httpx.post(bridge.url, content=f'{{"s": {SECRET}', headers={**BOTH, "Authorization": f"Bearer {key}"})
        bridge.stop()
        assert bridge.ended_well, bridge.ending
    assert [line for line in bridge.lines if SECRET in line or key in line or key[4:] in line] == []
    assert [line for line in bridge.lines if not line.startswith("20")] == []
    assert any("save_checkpoint: answered in" in line for line in bridge.lines)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well_with_a_stream_open(base_url: str, key: str, number: int) -> None:
    with http_bridge(base_url, "--sessions") as bridge:
        own = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
        own["Mcp-Session-Id"] = post(bridge, **own | BOTH).headers["Mcp-Session-Id"]
        with httpx.stream("GET", bridge.url, headers=own, trust_env=False) as stream:
            assert stream.status_code == 200
            began = time.monotonic()
            bridge.send(number)
            bridge.wait()
        assert bridge.ended_well, bridge.ending
        assert time.monotonic() - began < 12
        assert [line for line in bridge.lines if "Traceback" in line] == []
