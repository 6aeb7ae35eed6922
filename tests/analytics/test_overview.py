"""`GET /analytics/overview`: what an account did in a period, in UTC days without gaps."""

import time
from datetime import UTC, date, datetime, timedelta
from importlib import import_module

import pytest
from django.db import connection

from tests.analytics.steps import count, happened, read, resumed, save, saved

FIELDS = {
    "period", "total_workflows", "completed_workflows", "failed_workflows", "active_workflows", "total_checkpoints",
    "avg_steps_per_workflow", "avg_workflow_duration_seconds", "top_agents", "daily",
}  # fmt: skip
NOTHING = {"checkpoints": 0, "resumes": 0, "failures": 0}


@pytest.fixture(params=["UTC", "Pacific/Auckland"])
def server_zone(request, monkeypatch):
    """The zone that the clocks of this machine and of database sessions are set to."""
    monkeypatch.setenv("TZ", request.param)
    monkeypatch.setenv("PGTZ", request.param)
    time.tzset()
    connection.close()
    yield
    connection.close()
    monkeypatch.undo()
    time.tzset()


def today():
    return datetime.now(UTC).date()


def overview(api, start=None, end=None):
    return read(api, "overview", **{k: str(v) for k, v in (("start_date", start), ("end_date", end)) if v})


def days(told):
    return {day["date"]: (day["checkpoints"], day["resumes"], day["failures"]) for day in told["daily"] if any_of(day)}


def any_of(day):
    return any(day[name] for name in NOTHING)


def test_an_account_that_did_nothing_has_thirty_days_of_it(api):
    told, last = overview(api), today()
    assert set(told) == FIELDS
    assert told["period"] == {"start": str(last - timedelta(days=29)), "end": str(last)}
    assert told["daily"] == [{"date": str(last - timedelta(days=back)), **NOTHING} for back in range(29, -1, -1)]
    numbers = {name: told[name] for name in FIELDS - {"period", "daily", "top_agents"}}
    assert (set(numbers.values()), told["top_agents"]) == ({0}, [])


def test_workflows_are_counted_by_the_status_of_their_heads(api, intake):
    for name, status in (("a", "active"), ("b", "completed"), ("c", "failed"), ("d", "completed")):
        save(api, name, 1)
        save(api, name, 2, status=status)
    intake()
    told = overview(api)
    names = ("total_workflows", "completed_workflows", "failed_workflows", "active_workflows", "total_checkpoints")
    assert [told[name] for name in names] == [4, 2, 1, 1, 8]
    assert (told["avg_steps_per_workflow"], days(told)) == (2, {str(today()): (8, 0, 1)})


def test_replacements_are_writes_but_no_further_checkpoints(api, intake):
    etag = save(api, "wf", 1)["etag"]
    for number in range(3):
        etag = save(api, "wf", 1, state={"n": -number}, match=etag)["etag"]
    intake()
    told = overview(api)
    assert (told["total_checkpoints"], told["avg_steps_per_workflow"]) == (1, 1)
    assert days(told) == {str(today()): (4, 0, 0)}


def test_a_retry_changes_nothing(api, intake):
    for _ in range(3):
        answer = api.post("/checkpoints", json={"workflow_id": "wf", "step": 1, "state": {}})
    intake()
    told = overview(api)
    assert (answer.status_code, told["total_checkpoints"], days(told)) == (200, 1, {str(today()): (1, 0, 0)})


def test_agents_with_the_most_workflows_come_first(api, account):
    at = datetime.now(UTC)
    for number in range(12):
        for workflow in range(number + 1):
            bodies = [saved(account, f"{number}-{workflow}", step, agent_id=f"agent-{number:02}") for step in (1, 2)]
            happened(account, at, *bodies)
    happened(account, at, saved(account, "nobody's", 1))
    count()
    top = overview(api)["top_agents"]
    assert [(each["agent_id"], each["workflows"]) for each in top] == [
        (f"agent-{number:02}", number + 1) for number in range(11, 1, -1)
    ]
    assert {each["avg_steps"] for each in top} == {2}


def test_durations_are_averaged(api, account):
    at = datetime.now(UTC) - timedelta(hours=1)
    for name, seconds in (("a", 0), ("b", 10), ("c", 50)):
        happened(account, at, saved(account, name, 1))
        happened(account, at + timedelta(seconds=seconds), saved(account, name, 2))
    count()
    assert overview(api)["avg_workflow_duration_seconds"] == 20


EDGES = [
    ("2026-02-28T23:59:59.999999Z", "2026-03-01T00:00:00Z"),
    ("2028-02-28T23:59:59.999999Z", "2028-02-29T00:00:00Z"),
    ("2028-02-29T23:59:59.999999Z", "2028-03-01T00:00:00Z"),
    ("2026-12-31T23:59:59.999999Z", "2027-01-01T00:00:00Z"),
]


@pytest.mark.parametrize(("before", "after"), EDGES)
@pytest.mark.usefixtures("server_zone")
def test_a_day_ends_at_midnight_in_utc(api, account, before, after):
    happened(account, before, saved(account, "wf", 1, agent_id="a"), resumed(account, "wf"))
    happened(account, after, saved(account, "wf", 2, agent_id="a", status="failed"))
    count()
    first, second = before[:10], after[:10]
    assert days(overview(api, first, second)) == {first: (1, 1, 0), second: (1, 0, 1)}
    for day in (first, second):
        told = overview(api, day, day)
        assert (told["total_workflows"], told["total_checkpoints"], len(told["daily"])) == (1, 1, 1)
        agents = read(api, "agents", start_date=day, end_date=day)["agents"]
        assert [agent["total_checkpoints"] for agent in agents] == [1]


@pytest.mark.usefixtures("server_zone")
def test_a_workflow_counts_in_the_days_from_its_first_to_its_last_save(api, account):
    happened(account, "2026-05-10T10:00Z", saved(account, "wf", 1))
    happened(account, "2026-05-12T10:00Z", saved(account, "wf", 2))
    count()
    found = {day: overview(api, f"2026-05-{day}", f"2026-05-{day}") for day in ("09", "10", "11", "12", "13")}
    assert [told["total_workflows"] for told in found.values()] == [0, 1, 1, 1, 0]
    assert [told["total_checkpoints"] for told in found.values()] == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("query", "period"),
    [
        ({"end_date": "2028-03-01"}, ("2028-02-01", "2028-03-01")),
        ({"start_date": "2099-01-01", "end_date": "2099-01-31"}, ("2099-01-01", "2099-01-31")),
        ({"start_date": "2020-01-01", "end_date": "2029-12-31"}, ("2020-01-01", "2029-12-31")),
        ({"start_date": "0001-01-01", "end_date": "0001-01-02"}, ("0001-01-01", "0001-01-02")),
        ({"end_date": "0001-01-05"}, ("0001-01-01", "0001-01-05")),
    ],
)
@pytest.mark.parametrize("report", ["overview", "agents"])
def test_a_period_is_what_is_asked_for(api, query, period, report):
    told = read(api, report, **query)
    if report == "overview":
        first, last = (date.fromisoformat(day) for day in period)
        assert tuple(told["period"].values()) == period
        assert [day["date"] for day in told["daily"]] == [
            str(first + timedelta(days=number)) for number in range((last - first).days + 1)
        ]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("start_date=2026-02-30", "start_date"),
        ("start_date=2026-2-3", "start_date"),
        ("start_date=yesterday", "start_date"),
        ("start_date=", "start_date"),
        ("end_date=2026-01-01T00:00:00Z", "end_date"),
        ("end_date=9999-12-31", "end_date"),
        ("start_date=2026-02-01&end_date=2026-01-31", "start_date"),
        ("start_date=2999-01-01", "start_date"),
        ("start_date=0001-01-01&end_date=2026-01-31", "start_date"),
        ("start_date=2026-01-01&start_date=2026-01-02", "start_date"),
        ("days=7", "days"),
        ("%C3%A9=1", "é"),
    ],
)
@pytest.mark.parametrize("report", ["overview", "agents"])
def test_what_is_no_period_is_refused_with_its_place(api, query, path, report):
    answer = api.get(f"/analytics/{report}?{query}")
    assert (answer.status_code, answer.json()["error"]["details"][0]["path"]) == (400, path)


def test_an_account_sees_its_own_work_only(api, stranger_api, intake):
    save(api, "wf", 1, agent_id="planner", status="failed")
    intake()
    told = overview(stranger_api)
    assert (told["total_workflows"], told["top_agents"], days(told)) == (0, [], {})
    assert read(stranger_api, "agents")["agents"] == []
    assert read(stranger_api, "failures")["total_failures"] == 0


@pytest.mark.parametrize("report", ["overview", "agents", "failures", "workflows/wf"])
def test_the_scope_is_needed(connect, account, anonymous, report):
    scopes = ["checkpoints:write", "checkpoints:read", "agents:manage", "webhooks:manage"]
    other = connect(import_module("accounts.services").issue_key(account, label="other", scopes=scopes)[1])
    assert other.get(f"/analytics/{report}").status_code == 403
    assert anonymous.get(f"/analytics/{report}").status_code == 401
    assert other.post(f"/analytics/{report}").status_code == 405
