"""The Admin API over all accounts: figures, activity, workflows, overview and failures."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from analytics.models import WorkflowStats
from checkpoints.models import Workflow
from snapstate_project.common.pagination import encode_cursor
from snapstate_project.events.models import Event
from tests.analytics.steps import count, happened, save, saved

STATS = {
    "active_workflows", "checkpoints_today", "total_accounts", "storage_used_mb", "redis_connected",
    "postgres_connected", "r2_reachable", "workflow_status",
}  # fmt: skip
ROUTES = ["stats", "activity", "workflows", "analytics/overview", "analytics/failures"]


def tell(operator_api, what, **query):
    answer = operator_api.get(f"/admin/{what}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_stats_tell_of_the_whole_service(operator_api, account, api, intake):
    intake()  # what other tests have left to be taken and counted
    before = tell(operator_api, "stats")
    for status in ("active", "completed", "failed"):
        save(api, f"{account.id}-{status}", 1, status=status)
    intake()
    after = tell(operator_api, "stats")
    assert set(after) == STATS
    assert after["workflow_status"] == {n: c + (n != "stalled") for n, c in before["workflow_status"].items()}
    assert after["active_workflows"] == before["active_workflows"] + 1
    assert after["checkpoints_today"] == before["checkpoints_today"] + 3
    assert after["storage_used_mb"] > before["storage_used_mb"] >= 0
    assert (after["redis_connected"], after["postgres_connected"], after["r2_reachable"]) == (True, True, True)


def test_a_stalled_workflow_is_one_of_the_active(operator_api, account, intake):
    intake()
    count()
    before = tell(operator_api, "stats")
    happened(account, datetime.now(UTC) - timedelta(days=2), saved(account, "idle", 1))
    count()
    after = tell(operator_api, "stats")
    assert after["workflow_status"]["stalled"] == before["workflow_status"]["stalled"] + 1
    assert after["workflow_status"]["active"] == before["workflow_status"]["active"]
    assert after["active_workflows"] == before["active_workflows"] + 1


def test_activity_is_what_happened_last(operator_api, account, api, intake):
    saved_step = save(api, "wf", 1)
    api.get("/workflows/wf/resume")
    intake()
    resumed, written = tell(operator_api, "activity", limit=2)["events"]
    assert written == {
        "id": resumed["id"] - 1, "account_id": str(account.id), "email": account.email,
        "event_type": "checkpoint.saved", "workflow_id": "wf", "checkpoint_size_bytes": saved_step["size_bytes"],
        "created_at": saved_step["created_at"],
    }  # fmt: skip
    assert (resumed["event_type"], resumed["checkpoint_size_bytes"]) == ("workflow.resumed", None)


def test_activity_of_what_was_erased_names_no_workflow(operator_api, account, api, intake):
    save(api, "wf", 1)
    api.delete("/workflows/wf")
    intake()
    newest = tell(operator_api, "activity", limit=2)["events"]
    assert {(event["email"], event["workflow_id"]) for event in newest} == {(account.email, None)}


def test_activity_is_bounded(operator_api, account):
    happened(account, datetime.now(UTC), *(saved(account, "wf", step) for step in range(210)))
    assert len(tell(operator_api, "activity")["events"]) == 50
    events = tell(operator_api, "activity", limit=200)["events"]
    newest = list(Event.objects.order_by("-id").values_list("id", flat=True)[:200])
    assert [event["id"] for event in events] == newest


def test_activity_is_paged_without_what_happens_meanwhile(operator_api, account):
    happened(account, datetime.now(UTC), *(saved(account, "wf", step) for step in range(6)))
    newest = list(Event.objects.order_by("-id").values_list("id", flat=True)[:6])
    first = tell(operator_api, "activity", limit=3)
    happened(account, datetime.now(UTC), saved(account, "wf", 6))
    second = tell(operator_api, "activity", limit=3, cursor=first["next_cursor"])
    assert [event["id"] for event in first["events"] + second["events"]] == newest
    assert (first["has_more"], second["has_more"]) == (True, Event.objects.count() > 7)


def test_activity_ends_with_the_first_event_there_is(operator_api, account):
    happened(account, datetime.now(UTC), saved(account, "wf", 1))
    [last, *_] = ids = list(Event.objects.order_by("id").values_list("id", flat=True)[:2])
    page = tell(operator_api, "activity", cursor=encode_cursor((ids[-1] + (len(ids) == 1),)))
    assert ([event["id"] for event in page["events"]], page["has_more"], page["next_cursor"]) == ([last], False, None)


def test_workflows_of_all_accounts_are_listed_newest_first(operator_api, api, stranger_api, account, intake):
    name = uuid.uuid4().hex
    save(api, f"{name}/1", 1, metadata={"k": 1.0}, agent_id="a")
    save(stranger_api, f"{name}/2", 1)
    save(api, f"{name}/3", 1, status="completed")
    intake()
    listed = tell(operator_api, "workflows", q=name)
    assert [workflow["workflow_id"] for workflow in listed["workflows"]] == [f"{name}/{n}" for n in (3, 2, 1)]
    assert (listed["has_more"], listed["next_cursor"]) == (False, None)
    own = api.get("/workflows", params={"q": f"{name}/1"}).json()["workflows"][0]
    assert listed["workflows"][2] == {**own, "account_id": str(account.id)}


def test_workflows_are_chosen_by_account_and_status_and_paged(operator_api, api, account, intake):
    for number in range(5):
        save(api, f"wf-{number}", 1, status="failed" if number % 2 else "active")
    intake()
    Workflow.objects.filter(account=account, workflow_id="wf-4").update(last_activity_at="2026-01-01T00:00Z")
    chosen = {"account_id": str(account.id)}
    first = tell(operator_api, "workflows", **chosen, limit=3)
    rest = tell(operator_api, "workflows", **chosen, limit=3, cursor=first["next_cursor"])
    assert names(first) + names(rest) == ["wf-3", "wf-2", "wf-1", "wf-0", "wf-4"]
    assert names(tell(operator_api, "workflows", **chosen, status="failed")) == ["wf-3", "wf-1"]
    assert names(tell(operator_api, "workflows", **chosen, status="stalled")) == ["wf-4"]


def names(listed):
    return [workflow["workflow_id"] for workflow in listed["workflows"]]


def test_the_overview_counts_every_account(operator_api, api, stranger_api, intake):
    before = tell(operator_api, "analytics/overview")
    save(api, "wf", 1, agent_id="a", status="completed")
    save(stranger_api, "wf", 1, agent_id="a")
    intake()
    after = tell(operator_api, "analytics/overview")
    assert set(after) == set(api.get("/analytics/overview").json())
    for name, more in (("total_workflows", 2), ("completed_workflows", 1), ("total_checkpoints", 2)):
        assert after[name] == before[name] + more
    assert after["daily"][-1]["checkpoints"] == before["daily"][-1]["checkpoints"] + 2


def test_failures_are_those_of_every_account(operator_api, api, stranger_api, intake):
    agent = uuid.uuid4().hex
    for client in (api, stranger_api):
        save(client, "wf", 1, agent_id=agent, status="failed")
        save(client, "well", 1, agent_id=agent)
    intake()
    told = tell(operator_api, "analytics/failures", agent_id=agent, days=1)
    assert (told["total_failures"], told["failure_by_step"]) == (2, [{"step": 1, "count": 2}])
    assert told["failure_by_agent"] == [{"agent_id": agent, "count": 2, "error_rate": 0.5}]
    assert len(told["recent_failures"]) == 2


@pytest.mark.parametrize("route", ROUTES)
def test_only_operators_are_told(api, anonymous, route):
    for client in (api, anonymous):
        answer = client.get(f"/admin/{route}")
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert answer.json()["error"]["code"] == "UNAUTHORIZED"


@pytest.mark.parametrize("route", ROUTES)
def test_they_only_read_and_no_browser_reads_them_from_elsewhere(operator_api, route):
    assert operator_api.post(f"/admin/{route}", json={}).status_code == 405
    assert operator_api.head(f"/admin/{route}").status_code == 200
    answer = operator_api.get(f"/admin/{route}", headers={"Origin": "https://elsewhere.example"})
    assert (answer.status_code, "Access-Control-Allow-Origin" in answer.headers) == (200, False)
    assert uuid.UUID(answer.headers["X-Request-Id"])


@pytest.mark.parametrize(
    ("route", "path"),
    [
        ("stats?a=1", "a"),
        ("activity?limit=0", "limit"),
        ("activity?limit=201", "limit"),
        ("workflows?account_id=me", "account_id"),
        ("workflows?status=archived", "status"),
        ("workflows?cursor=x", "cursor"),
        ("workflows?page=1", "page"),
        ("analytics/overview?start_date=2026-02-30", "start_date"),
        ("analytics/failures?days=91", "days"),
    ],
)
def test_what_is_no_question_is_refused_with_its_place(operator_api, route, path):
    answer = operator_api.get(f"/admin/{route}")
    assert (answer.status_code, answer.json()["error"]["details"][0]["path"]) == (400, path)


def test_no_account_is_everybody(operator_api):
    assert tell(operator_api, "workflows", account_id=str(uuid.uuid4()))["workflows"] == []


def test_the_figures_are_of_all_that_is_counted(operator_api):
    stats = tell(operator_api, "stats")
    assert sum(stats["workflow_status"].values()) == WorkflowStats.objects.count()
