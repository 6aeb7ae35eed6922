"""Hostile inputs, ids and routing: every id that is allowed works end to end, and none meets another's data."""

import json
from collections.abc import Callable
from itertools import count
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from django.test import Client
from django.utils.html import escape

from tests.clients import javascript, mcp_bridge
from tests.clients.python_sdk import Twin
from tests.common.raw_http import answer_to, head
from tests.hostile.reading import (
    error_of,
    everywhere,
    place_of,
    save,
    saved,
    states,
    workflow,
)

Settle = Callable[[], None]
IDS = [
    "a/b", "a%2Fb", "a:latest", "a.json", "...", ".a", "a b", "a?b", "a#b", "a{b}", "a*", "a\\b", "+", "研究-🤖",
    "caf\u00e9", "cafe\u0301", "🤖" * 255, "resume", "a/resume",
]  # fmt: skip
NEIGHBOURS = [
    "a", "b", "A", "a/", "/a", "//", "a//b", "a/b/resume", "a%252Fb", "a%2fb", "%", "%2F", "%zz", "%00", "a+b", "a%20b",
    "a&b=c", "a;b", "a,b", '"a"', "'; --", "<b>a</b>", " a", "a ", "a\u00a0b", "a\u200bb", "\ufeffa", "\u202ea",
    "\ud7ff", "\uffff", "replay", "diff", "a/replay", "a/diff", "workflows", "checkpoints", "cp_a", "cp_a_001",
    "a_001", "a_001_001", "_",
    "-1", "0", "null", "../a", "a/..", "..a", "~", "{}", "$where", "a\\", "\\0", "wf:{07}:a:b:head", "x" * 255,
]  # fmt: skip
ALL = IDS + NEIGHBOURS
NO_IDS = {
    "empty": "", "a dot": ".", "two dots": "..", "a space": " ", "spaces": " \u00a0\u3000", "too long": "x" * 256,
    "too long in letters of four bytes": "🤖" * 256, "NUL": "a\0b", "a line break": "a\nb", "a tab": "\t",
    "DEL": "a\x7f",
    "a control character of the second kind": "a\x85b",
}  # fmt: skip
serial = count(1)


def mine(workflow_id: str, number: int = 0) -> str:
    return json.dumps({"mine": workflow_id, "n": number})


@pytest.mark.parametrize("workflow_id", ALL, ids=lambda text: text[:20])
def test_an_id_works_end_to_end(
    api: httpx.Client, intake: Callable[[], None], settle: Settle, workflow_id: str
) -> None:
    saved(save(api, workflow_id, 1, mine(workflow_id)))
    second = saved(save(api, workflow_id, 2, mine(workflow_id, 2)))
    assert second.json()["checkpoint_id"] == f"cp_{workflow_id}_002"
    settle()
    for shown in everywhere(api, workflow_id, 2).values():
        assert (bytes(shown.state).decode(), shown.checkpoint_id) == (mine(workflow_id, 2), f"cp_{workflow_id}_002")
    assert api.get(workflow(workflow_id, "diff")).json()["diff"]["changed"] == ["n"]
    summary = saved(api.patch(workflow(workflow_id), json={"ttl_seconds": 60}), 200).json()
    assert (summary["workflow_id"], summary["total_checkpoints"]) == (workflow_id, 2)
    intake()
    listed = api.get(f"/workflows?q={quote(workflow_id, safe='')}&limit=200").json()["workflows"]
    assert summary in listed
    assert saved(api.delete(workflow(workflow_id)), 204).content == b""
    error_of(api.get(workflow(workflow_id, "resume")), 404, "NOT_FOUND")


def test_no_id_meets_anothers_data(api: httpx.Client, settle: Settle) -> None:
    step = 1000 + next(serial)
    for workflow_id in ALL:
        saved(save(api, workflow_id, step, mine(workflow_id, step)))
    settle()
    assert [workflow_id for workflow_id in ALL if states(api, workflow_id, step) != {mine(workflow_id, step)}] == []
    for workflow_id in IDS[::2]:
        saved(api.delete(workflow(workflow_id)), 204)
    there = [workflow_id for workflow_id in ALL if api.get(workflow(workflow_id)).status_code == 200]
    assert there == [workflow_id for workflow_id in ALL if workflow_id not in IDS[::2]]


@pytest.mark.parametrize("workflow_id", NO_IDS.values(), ids=NO_IDS)
def test_what_is_no_id_is_refused_in_bodies_and_in_paths(
    base_url: str, api: httpx.Client, key: str, workflow_id: str
) -> None:
    assert place_of(save(api, workflow_id, 1)) == "workflow_id"
    segment = "".join(f"%{byte:02X}" for byte in workflow_id.encode())
    for method, rest in (("GET", "/resume"), ("GET", "/replay"), ("GET", "/diff"), ("GET", ""), ("DELETE", "")):
        answer = answer_to(base_url, head(method, f"/workflows/{segment}{rest}", key))
        status = b"404" if not segment else b"400"
        assert answer.startswith(b"HTTP/1.1 " + status), (method, rest, answer[:200])
        assert b'"request_id":' in answer


@pytest.mark.parametrize("segment", ["%FF", "%C0%AF", "%ED%A0%BD", "a%80"])
def test_a_path_that_is_no_utf8_is_400(api: httpx.Client, segment: str) -> None:
    for path in (f"/workflows/{segment}/resume", f"/workflows/{segment}", f"/checkpoints/cp_{segment}_001"):
        error_of(api.get(path), 400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    "name",
    ["cp_a_1", "cp_a_01", "cp_a_0001", "cp_a_-01", "cp_a_1.0", "cp__001", "cp_001", "a_001", "cp_a_001 ", "CP_a_001",
     "cp_a_\u0660\u0660\u0661", "cp_a_9007199254740992", "cp_a_" + "9" * 40, "cp_" + "x" * 256 + "_001",
     "%00", "cp_._001"],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_what_names_no_checkpoint_is_404(api: httpx.Client, name: str) -> None:
    save(api, "a", 1)
    error_of(api.get("/checkpoints/" + quote(name, safe="")), 404, "NOT_FOUND")


@pytest.mark.parametrize(
    "path",
    ["/workflows/", "/workflows//resume", "/workflows/a/", "/workflows/a/resume/", "/workflows/a/b/resume",
     "//workflows",
     "/checkpoints/", "/checkpoints/cp_a_001/", "/workflows/a/resume/x", "/workflows/a/Resume", "/%77orkflows",
     "/workflows%2Fa", "/workflows/a%2Fresume/", "/usage/", "/health/", "/ready/", "/openapi.json/", "/workflows;x/a",
     "/checkpoints/cp_a_001/resume"],
)  # fmt: skip
def test_only_real_slashes_route_and_none_may_be_too_many(
    base_url: str, api: httpx.Client, key: str, path: str
) -> None:
    save(api, "a", 1)
    answer = answer_to(base_url, head("GET", path, key))
    assert answer.startswith(b"HTTP/1.1 404 "), answer[:300]
    assert b'"code":"NOT_FOUND"' in answer


def test_a_path_may_encode_what_it_need_not(base_url: str, api: httpx.Client, key: str) -> None:
    save(api, "ab", 1)
    for path in ("/workflows/%61b/resume", "/workflows/a%62/resume", "http://localhost/workflows/ab/resume"):
        assert answer_to(base_url, head("GET", path, key)).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("workflow_id", IDS, ids=lambda text: text[:20])
def test_an_id_works_through_the_published_sdk(sdk: Any, settle: Settle, workflow_id: str) -> None:
    """Which puts ids into paths as they are: its callers encode those that need it."""
    step, segment = 2000 + next(serial), quote(workflow_id, safe="")
    assert (
        sdk.save(workflow_id, step, {"mine": workflow_id}, ttl_seconds=60).checkpoint_id == f"cp_{workflow_id}_{step}"
    )
    settle()
    assert sdk.resume(segment).latest_checkpoint.state == {"mine": workflow_id}
    assert sdk.replay(segment, from_step=step).checkpoints[0].state == {"mine": workflow_id}
    assert sdk.get(quote(f"cp_{workflow_id}_{step}", safe="")).workflow_id == workflow_id


@pytest.mark.parametrize("workflow_id", IDS, ids=lambda text: text[:20])
def test_an_id_works_in_analytics(api: httpx.Client, intake: Callable[[], None], workflow_id: str) -> None:
    save(api, workflow_id, 3000 + next(serial))
    intake()
    answer = api.get("/analytics" + workflow(workflow_id))
    assert (answer.status_code, answer.json().get("workflow_id")) == (200, workflow_id)


@pytest.mark.parametrize("workflow_id", IDS, ids=lambda text: text[:20])
def test_an_id_works_through_our_python_sdk(
    python_sdk: Twin, intake: Callable[[], None], settle: Settle, workflow_id: str
) -> None:
    step = 6000 + next(serial)
    saved_as = python_sdk.save(workflow_id, step, {"mine": workflow_id}, ttl_seconds=60)
    settle()
    assert python_sdk.resume(workflow_id).state == python_sdk.get(saved_as.checkpoint_id).state == {"mine": workflow_id}
    assert [one.state["mine"] for one in python_sdk.checkpoints(workflow_id, step)] == [workflow_id]
    assert python_sdk.diff(workflow_id).to_step == python_sdk.get_workflow(workflow_id).latest_step == step
    intake()
    assert workflow_id in [one.workflow_id for one in python_sdk.workflows(q=workflow_id)]
    assert python_sdk.analytics_workflow(workflow_id)["workflow_id"] == workflow_id
    python_sdk.erase(workflow_id)
    assert python_sdk.replay(workflow_id).checkpoints == []


def test_no_id_meets_anothers_data_through_our_python_sdk(python_sdk: Twin) -> None:
    step = 7000 + next(serial)
    for workflow_id in ALL:
        python_sdk.save(workflow_id, step, {"mine": workflow_id})
    assert [python_sdk.resume(workflow_id).state["mine"] for workflow_id in ALL] == ALL
    for workflow_id in ALL:
        python_sdk.erase(workflow_id)


def test_ids_work_through_the_mcp_bridge(base_url: str, key: str) -> None:
    step = 5000 + next(serial)

    async def all_of_them(client: Any) -> list[list[Any]]:
        return [await mcp_bridge.there_and_back(client, one, step, {"mine": one}) for one in ALL]

    seen = mcp_bridge.run(mcp_bridge.over_stdio(mcp_bridge.parameters(base_url, key)), all_of_them)
    assert seen == [[{"mine": workflow_id}] * 3 for workflow_id in ALL]


def test_ids_work_through_our_js_sdk(base_url: str, key: str) -> None:
    assert json.loads(javascript.run("test/live/ids.mjs", *ALL, base_url=base_url, key=key)) == ALL


@pytest.mark.parametrize("workflow_id", IDS, ids=lambda text: text[:20])
def test_an_id_works_on_the_operators_page(
    api: httpx.Client, intake: Callable[[], None], admin_client: Client, workflow_id: str
) -> None:
    saved(save(api, workflow_id, 4000 + next(serial)))
    intake()
    page = admin_client.get("/admin/checkpoints/workflow/", {"q": workflow_id})
    assert page.status_code == 200
    assert escape(workflow_id[:40]) in page.content.decode()
