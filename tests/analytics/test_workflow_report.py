"""`GET /analytics/workflows/{id}`: one workflow step by step, the newest revision of each step."""

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from analytics.models import WorkflowStats
from tests.analytics.steps import count, happened, noon, read, save, saved

FIELDS = {
    "workflow_id", "total_steps", "total_size_bytes", "duration_seconds", "status", "agents_involved", "checkpoints",
    "resumed", "resumed_count", "error_count", "first_checkpoint_at", "last_checkpoint_at",
}  # fmt: skip
NASTY = [
    "a/b", "a%2Fb", "a:latest", "a.json", "...", ".a", "a b", "a?b", "a#b", "a{b}", "a*", "a\\b", "+", "研究-🤖",
    "café", "cafe\u0301", "🤖" * 255, "resume", "a/resume", "overview",
]  # fmt: skip


def report(api, workflow_id):
    return read(api, f"workflows/{quote(workflow_id, safe='')}")


def test_a_workflow_is_told_step_by_step(api, intake):
    first = save(api, "wf", 1, label="begin\x00\\0", agent_id="planner")
    second = save(api, "wf", 2, agent_id="writer", status="completed")
    api.get("/workflows/wf/resume")
    intake()
    told = report(api, "wf")
    assert set(told) == FIELDS
    assert (told["workflow_id"], told["total_steps"], told["status"]) == ("wf", 2, "completed")
    assert told["total_size_bytes"] == first["size_bytes"] + second["size_bytes"]
    assert (told["agents_involved"], told["error_count"]) == (["planner", "writer"], 0)
    assert (told["resumed"], told["resumed_count"]) == (True, 1)
    assert (told["first_checkpoint_at"], told["last_checkpoint_at"]) == (first["created_at"], second["created_at"])


def test_its_steps_say_when_and_by_whom(api, intake):
    first = save(api, "wf", 1, label="begin\x00\\0", agent_id="planner")
    second = save(api, "wf", 2)
    intake()
    told, between = report(api, "wf"), milliseconds(first, second)
    assert told["checkpoints"] == [
        {"step": 1, "label": "begin\x00\\0", "size_bytes": first["size_bytes"], "time_since_previous_ms": 0,
         "agent_id": "planner", "created_at": first["created_at"]},
        {"step": 2, "label": None, "size_bytes": second["size_bytes"], "time_since_previous_ms": between,
         "agent_id": None, "created_at": second["created_at"]},
    ]  # fmt: skip
    assert told["duration_seconds"] == between / 1000


def milliseconds(first, second):
    began, ended = (datetime.fromisoformat(step["created_at"]) for step in (first, second))
    return (ended - began) // timedelta(milliseconds=1)


@pytest.mark.parametrize("workflow_id", NASTY)
def test_every_workflow_id_is_found_as_it_is(api, intake, workflow_id):
    save(api, workflow_id, 7)
    intake()
    told = report(api, workflow_id)
    assert (told["workflow_id"], [step["step"] for step in told["checkpoints"]]) == (workflow_id, [7])


def test_a_replaced_step_counts_once_as_it_is_now(api, intake):
    save(api, "wf", 1, agent_id="planner")
    old = save(api, "wf", 2, agent_id="planner", label="old", state={"long": "x" * 1000})
    new = save(api, "wf", 2, agent_id="writer", label="new", match=old["etag"])
    intake()
    told = report(api, "wf")
    assert [(step["step"], step["label"], step["agent_id"]) for step in told["checkpoints"]] == [
        (1, None, "planner"),
        (2, "new", "writer"),
    ]
    assert (told["total_steps"], told["total_size_bytes"]) == (2, 7 + new["size_bytes"])
    assert told["last_checkpoint_at"] == new["created_at"]


def test_a_workflow_of_one_step_lasts_from_its_newest_revision_on(api, intake):
    etag = save(api, "wf", 1)["etag"]
    intake()
    newest = save(api, "wf", 1, state={"n": 2}, match=etag)
    intake()
    told = report(api, "wf")
    assert (told["duration_seconds"], told["first_checkpoint_at"]) == (0, newest["created_at"])


def test_a_late_step_stands_in_its_place_and_leaves_the_status(api, intake):
    save(api, "wf", 1)
    save(api, "wf", 3, status="completed")
    save(api, "wf", 2)
    intake()
    told = report(api, "wf")
    assert ([step["step"] for step in told["checkpoints"]], told["status"]) == ([1, 2, 3], "completed")
    assert told["checkpoints"][2]["time_since_previous_ms"] == 0


@pytest.mark.parametrize(("status", "shown"), [("active", "stalled"), ("completed", "completed"), ("failed", "failed")])
def test_only_an_active_workflow_stalls(api, account, status, shown):
    long_ago = datetime.now(UTC) - timedelta(days=2)
    happened(account, long_ago, saved(account, "idle", 1, status=status))
    count()
    assert report(api, "idle")["status"] == shown
    assert WorkflowStats.objects.get(account=account).status == status


def test_a_workflow_stalls_after_a_day(api, account):
    now = datetime.now(UTC)
    happened(account, now - timedelta(seconds=86_390), saved(account, "busy", 1))
    happened(account, now - timedelta(seconds=86_410), saved(account, "idle", 1))
    count()
    assert [report(api, name)["status"] for name in ("busy", "idle")] == ["active", "stalled"]


def test_the_newest_thousand_steps_are_shown(api, account):
    for step in range(1_003):
        happened(account, noon("2026-11-01") + timedelta(seconds=step), saved(account, "long", step))
    count()
    told = report(api, "long")
    assert told["total_steps"] == 1_003
    assert [step["step"] for step in told["checkpoints"]] == list(range(3, 1_003))
    assert {step["time_since_previous_ms"] for step in told["checkpoints"]} == {1_000}


@pytest.mark.parametrize("workflow_id", ["missing", "overview", "%20a"])
def test_a_workflow_that_is_not_there_is_not_found(api, workflow_id):
    answer = api.get(f"/analytics/workflows/{workflow_id}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(("path", "place"), [("%00", "workflow_id"), ("%FF", "workflow_id"), ("wf?days=7", "days")])
def test_what_is_no_workflow_is_refused(api, path, place):
    answer = api.get(f"/analytics/workflows/{path}")
    assert (answer.status_code, answer.json()["error"]["details"][0]["path"]) == (400, place)


def test_a_stranger_finds_nothing(api, stranger_api, intake):
    save(api, "wf", 1)
    intake()
    assert stranger_api.get("/analytics/workflows/wf").status_code == 404
