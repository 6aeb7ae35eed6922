"""Summaries, the list, PATCH, and the diff of two steps."""

from collections.abc import Callable

import httpx
import pytest

from tests.checkpoints.steps import save

Intake = Callable[[], None]


def test_a_summary_sees_every_save_at_once(api: httpx.Client) -> None:
    save(api, "wf", 1, metadata={"k": 1})
    answer = save(api, "wf", 2, {"a": 1}, status="completed", label="end", agent_id="bot", metadata={"k": 2})
    found = api.get("/workflows/wf").json()
    assert (found["latest_step"], found["status"], found["label"], found["agent_id"]) == (2, "completed", "end", "bot")
    assert (found["metadata"], found["etag"], found["tier"]) == ({"k": 2}, answer.headers["ETag"], "live")
    assert (found["total_checkpoints"], found["size_bytes"]) == (2, len('{"n":1}') + len('{"a":1}'))


def test_the_list_says_what_the_summary_says(api: httpx.Client, intake: Intake) -> None:
    save(api, "wf", 1, metadata={"k": 1}, label="with \0 in it", headers={"X-Checkpoint-TTL": "60"})
    intake()
    assert api.get("/workflows").json()["workflows"] == [api.get("/workflows/wf").json()]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("label=y", ["b", "a/2"]),
        ("agent_id=bot", ["a/1"]),
        ("status=failed", ["a/2"]),
        ("status=stalled", []),
        ("metadata.team=red", ["a/1"]),
        ("metadata.n=1.0", ["a/1"]),
        ("metadata.n=1", []),
        ("metadata.on=true", ["a/1"]),
        ("q=a/", ["a/2", "a/1"]),
        ("updated_after=2999-01-01T00:00:00Z", []),
        ("updated_before=2999-01-01T00:00:00Z&q=b", ["b"]),
    ],
)
def test_the_list_filters_on_the_head(api: httpx.Client, intake: Intake, query: str, ids: list[str]) -> None:
    save(api, "a/1", 1, label="x", agent_id="bot", metadata={"team": "red", "n": 1.0, "on": True})
    save(api, "a/2", 1, label="y", status="failed", metadata={"team": "blue"})
    save(api, "b", 1, label="y")
    intake()
    assert [row["workflow_id"] for row in api.get(f"/workflows?{query}").json()["workflows"]] == ids


def test_the_list_neither_skips_nor_repeats(api: httpx.Client, intake: Intake) -> None:
    for number in range(7):
        save(api, f"wf-{number}", 1)
    intake()
    seen, cursor = [], ""
    while True:
        page = api.get(f"/workflows?limit=3{cursor}").json()
        seen += [row["workflow_id"] for row in page["workflows"]]
        save(api, "wf-6", len(seen) + 1)
        intake()
        if not page["has_more"]:
            break
        cursor = "&cursor=" + page["next_cursor"]
    assert seen == [f"wf-{number}" for number in reversed(range(7))]


def test_a_patch_changes_how_long_a_workflow_lives(api: httpx.Client, intake: Intake) -> None:
    save(api, "wf", 1)
    plain = api.get("/workflows/wf").json()
    patched = api.patch("/workflows/wf", json={"ttl_seconds": 60, "keep_last": 5}).json()
    assert (patched["ttl_seconds"], patched["keep_last"], patched["etag"]) == (60, 5, plain["etag"])
    assert patched["expires_at"] < plain["expires_at"]
    pinned = api.patch("/workflows/wf", json={"pinned": True, "keep_last": None}).json()
    assert (pinned["pinned"], pinned["expires_at"], pinned["keep_last"]) == (True, None, None)
    intake()
    assert api.get("/workflows").json()["workflows"] == [pinned]
    assert api.patch("/workflows/wf", json={"pinned": False}).json()["expires_at"] == patched["expires_at"]


def test_a_patch_that_says_nothing_or_too_much_is_refused(api: httpx.Client) -> None:
    save(api, "wf", 1)
    for body in ({}, {"ttl_seconds": 0}, {"ttl_seconds": "60"}, {"pinned": 1}, {"keep_last": 0}, {"other": 1}):
        assert api.patch("/workflows/wf", json=body).status_code == 400, body
    assert api.patch("/workflows/none", json={"pinned": True}).status_code == 404


def test_the_last_asked_for_ttl_stays(api: httpx.Client) -> None:
    save(api, "wf", 1, headers={"X-Checkpoint-TTL": "3600"})
    save(api, "wf", 2)
    assert api.get("/workflows/wf").json()["ttl_seconds"] == 3600


def test_the_diff_of_two_steps(api: httpx.Client) -> None:
    for step, state in ((1, {"a": 1}), (2, {"a": 2}), (3, {"a": 2, "b": 1})):
        save(api, "wf", step, state)
    assert api.get("/workflows/wf/diff").json()["diff"] == {"added": ["b"], "removed": [], "changed": []}
    both = api.get("/workflows/wf/diff?from_step=3&to_step=1").json()
    assert (both["from_step"], both["to_step"]) == (3, 1)
    assert both["diff"] == {"added": [], "removed": ["b"], "changed": ["a"]}
    assert api.get("/workflows/wf/diff?from_step=9").status_code == 404


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
@pytest.mark.parametrize("value", ['"1-1-a"', "*", '"'])
def test_a_guard_of_what_takes_none_is_not_passed_over(api: httpx.Client, header: str, value: str) -> None:
    save(api, "wf", 1)
    for answer in (
        api.delete("/workflows/wf", headers={header: value}),
        api.patch("/workflows/wf", json={"pinned": True}, headers={header: value}),
    ):
        assert answer.status_code == 400
        assert answer.json()["error"]["details"] == [{"path": header, "message": "is taken by saves only"}]
    assert api.get("/workflows/wf").json()["pinned"] is False
