"""`GET /analytics/failures` and `GET /analytics/agents`: what failed, and how each agent did."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.analytics.steps import count, happened, read, resumed, save, saved

TIMEOUT = {"type": "timeout", "message": "no answer\x00 after 30 s"}
NONE = {"total_failures": 0, "failure_by_step": [], "failure_by_agent": [], "recent_failures": []}


def ago(**time):
    return datetime.now(UTC) - timedelta(**time)


def agents(api, **query):
    return {agent["agent_id"]: agent for agent in read(api, "agents", **query)["agents"]}


def test_without_failures_there_is_nothing_to_tell(api, intake):
    save(api, "wf", 1, agent_id="planner")
    intake()
    assert read(api, "failures") == {"period_days": 7, **NONE}


def test_an_error_seen_at_a_step_is_a_failure(api, intake):
    done = save(api, "wf", 3, agent_id="planner", error=TIMEOUT)
    intake()
    told = read(api, "failures", days=14)
    assert (told["period_days"], told["total_failures"]) == (14, 1)
    assert told["failure_by_step"] == [{"step": 3, "count": 1}]
    assert told["failure_by_agent"] == [{"agent_id": "planner", "count": 1, "error_rate": 1}]
    assert told["recent_failures"] == [
        {"workflow_id": "wf", "step": 3, "agent_id": "planner", "error_type": TIMEOUT["type"],
         "error_message": TIMEOUT["message"], "created_at": done["created_at"]}
    ]  # fmt: skip


def test_a_step_that_fails_its_workflow_is_one_too_even_without_an_error(api, intake):
    save(api, "wf", 1, status="failed")
    intake()
    told = read(api, "failures")
    assert (told["total_failures"], told["failure_by_agent"]) == (1, [])
    assert told["recent_failures"][0]["error_type"] is None
    assert read(api, "workflows/wf")["error_count"] == 1


def test_each_failing_save_is_a_failure_and_a_retry_of_one_is_none(api, intake):
    first = save(api, "wf", 1, error=TIMEOUT)
    save(api, "wf", 1, error={"type": "other", "message": ""}, match=first["etag"])
    api.post("/checkpoints", json={"workflow_id": "wf", "step": 2, "state": {}, "error": TIMEOUT})
    api.post("/checkpoints", json={"workflow_id": "wf", "step": 2, "state": {}, "error": TIMEOUT})
    intake()
    told = read(api, "failures")
    assert told["failure_by_step"] == [{"step": 1, "count": 2}, {"step": 2, "count": 1}]
    assert [failure["error_type"] for failure in told["recent_failures"]] == ["timeout", "other", "timeout"]


def test_failures_are_counted_by_step_and_by_agent(api, account):
    for number, (step, agent) in enumerate([(1, "a"), (1, "b"), (2, "b"), (2, "b"), (3, "b"), (3, None)]):
        happened(account, ago(hours=1), saved(account, f"wf-{number}", step, agent_id=agent, error_type="x"))
    for number in range(6):
        happened(account, ago(hours=1), saved(account, f"well-{number}", 1, agent_id="b"))
    count()
    told = read(api, "failures")
    assert [(each["step"], each["count"]) for each in told["failure_by_step"]] == [(1, 2), (2, 2), (3, 2)]
    assert told["failure_by_agent"] == [
        {"agent_id": "b", "count": 4, "error_rate": 0.4},
        {"agent_id": "a", "count": 1, "error_rate": 1},
    ]


def test_a_workflow_that_fails_often_is_one_failed_workflow(api, account):
    bodies = [saved(account, "wf", step, agent_id="a", status="failed") for step in range(5)]
    happened(account, ago(hours=1), *bodies, saved(account, "well", 1, agent_id="a"))
    count()
    by_agent = read(api, "failures")["failure_by_agent"]
    assert by_agent == [{"agent_id": "a", "count": 5, "error_rate": 0.5}]
    assert agents(api)["a"]["error_rate"] == 0.5


def test_a_failure_whose_step_was_replaced_by_another_agent_still_counts_for_who_failed(api, intake):
    failed = save(api, "wf", 1, agent_id="first", error=TIMEOUT)
    intake()
    save(api, "wf", 1, agent_id="second", state={"mended": 1}, match=failed["etag"])
    intake()
    assert read(api, "failures")["failure_by_agent"] == [{"agent_id": "first", "count": 1, "error_rate": 1}]
    told = agents(api)
    assert [(told[name]["total_checkpoints"], told[name]["error_rate"]) for name in told] == [(0, 1), (1, 0)]


def test_failures_of_one_agent_are_asked_for(api, account):
    for agent in ("a", "b"):
        happened(account, ago(hours=1), saved(account, f"of-{agent}", 1, agent_id=agent, error_type=agent))
    count()
    told = read(api, "failures", agent_id="b")
    assert (told["total_failures"], [each["agent_id"] for each in told["failure_by_agent"]]) == (1, ["b"])
    assert [failure["workflow_id"] for failure in told["recent_failures"]] == ["of-b"]
    assert read(api, "failures", agent_id="nobody") == {"period_days": 7, **NONE}


@pytest.mark.parametrize(("days", "found"), [(1, 1), (7, 2), (8, 3), (90, 4)])
def test_only_failures_of_the_last_days_are_told(api, account, days, found):
    for hours in (23, 24 * 7 - 1, 24 * 7 + 1, 24 * 90 - 1, 24 * 90 + 1):
        happened(account, ago(hours=hours), saved(account, f"wf-{hours}", 1, error_type="x"))
    count()
    assert read(api, "failures", days=days)["total_failures"] == found


def test_the_twenty_newest_are_told_newest_first(api, account):
    for number in range(25):
        happened(account, ago(minutes=number), saved(account, f"wf-{number}", 1, error_type="x"))
    count()
    told = read(api, "failures")
    assert [failure["workflow_id"] for failure in told["recent_failures"]] == [f"wf-{n}" for n in range(20)]
    assert told["total_failures"] == 25


@pytest.mark.parametrize(
    ("query", "path"),
    [
        *((f"days={days}", "days") for days in ("0", "91", "-1", "7.0", "abc", "", "99999999999999999999", "07")),
        ("agent_id=a%20b", "agent_id"),
        ("agent_id=", "agent_id"),
        ("start_date=2026-01-01", "start_date"),
    ],
)
def test_what_is_no_question_is_refused_with_its_place(api, query, path):
    answer = api.get(f"/analytics/failures?{query}")
    assert (answer.status_code, answer.json()["error"]["details"][0]["path"]) == (400, path)


def test_each_agent_is_told_of(api, account):
    api.post("/agents", json={"agent_id": "a", "name": "Agent A"})
    at = ago(hours=2)
    happened(account, at, *(saved(account, "one", step, agent_id="a") for step in (1, 2, 3)))
    happened(account, at, saved(account, "two", 1, agent_id="a"), saved(account, "two", 2, agent_id="b"))
    happened(account, at + timedelta(seconds=30), saved(account, "two", 3, agent_id="a", status="completed"))
    count()
    told, last = agents(api), (at + timedelta(seconds=30)).isoformat(timespec="milliseconds")[:23] + "Z"
    assert told["a"] == {
        "agent_id": "a", "name": "Agent A", "total_workflows": 2, "active_workflows": 1, "avg_steps": 2.5,
        "avg_duration_seconds": 15, "total_checkpoints": 5, "error_rate": 0, "last_seen_at": last,
    }  # fmt: skip
    assert (told["b"]["name"], told["b"]["avg_steps"], told["b"]["active_workflows"]) == ("b", 1, 0)
    assert list(told) == ["a", "b"]


def test_an_agent_was_seen_when_its_registration_says_so_if_that_is_later(api, intake):
    api.post("/agents", json={"agent_id": "a"})
    saved_at = save(api, "wf", 1, agent_id="a")["created_at"]
    api.get("/workflows/wf/resume", params={"agent_id": "a"})
    intake()
    told = agents(api)["a"]
    assert (told["name"], told["last_seen_at"]) == ("a", api.get("/agents/a").json()["last_seen_at"])
    assert told["last_seen_at"] > saved_at


def test_an_agent_that_only_resumes_has_no_part_in_the_work(api, account, intake):
    save(api, "wf", 1, agent_id="a")
    intake()
    happened(account, ago(minutes=1), resumed(account, "wf", agent_id="b"))
    count()
    assert list(agents(api)) == ["a"]
