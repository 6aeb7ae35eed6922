"""/metrics: behind the operators' secret, exact, one over all processes, and there when a tier is not."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from checkpoints import archiving
from checkpoints.models import Workflow
from snapstate_project.common import metrics
from snapstate_project.common.metrics import Board, Counter
from snapstate_project.common.traffic import label_of, method_of
from tests.checkpoints.steps import save
from tests.operations.steps import figure, scrape

STATE = {"n": 1}
HERE = {"route": "/workflows/{workflow_id}/resume", "method": "GET"}


@pytest.fixture
def workflow(api):
    """One that has a step."""
    name = f"wf-{uuid.uuid4().hex}"
    assert api.post("/checkpoints", json={"workflow_id": name, "step": 1, "state": STATE}).status_code == 201
    return name


def test_only_the_operators_secret_opens_it(anonymous, api, operator_api):
    assert [client.get("/metrics").status_code for client in (anonymous, api, operator_api)] == [401, 401, 200]
    assert anonymous.get("/metrics").headers["WWW-Authenticate"] == "Bearer"


def test_requests_are_counted_by_route_method_and_status(api, operator_api, workflow):
    before = scrape(operator_api)
    for name in (workflow, workflow, "nobody"):
        api.get(f"/workflows/{name}/resume")
    after = scrape(operator_api)
    found, missing = (
        figure(after, "http_requests_total", **HERE, status=status)
        - figure(before, "http_requests_total", **HERE, status=status)
        for status in ("200", "404")
    )
    assert (found, missing) == (2, 1)


def test_latencies_are_a_histogram_that_is_whole(api, operator_api, workflow):
    api.get(f"/workflows/{workflow}/resume")
    figures = scrape(operator_api)
    most = figure(figures, "http_request_duration_seconds_bucket", **HERE, le="+Inf")
    least = figure(figures, "http_request_duration_seconds_bucket", **HERE, le="0.001")
    assert 0 <= least <= most == figure(figures, "http_request_duration_seconds_count", **HERE) > 0
    assert figure(figures, "http_request_duration_seconds_sum", **HERE) > 0


def test_no_id_of_a_client_becomes_a_label(api, operator_api, workflow):
    for path in (f"/workflows/{workflow}", f"/{workflow}", f"/admin/{workflow}/", f"/static/{workflow}"):
        api.get(path)
    assert workflow not in operator_api.get("/metrics").text


def test_routes_without_a_name_share_one_label():
    routes = ("none", "^.*", "^admin/.*[^/]$", "admin/accounts/account/<path:object_id>/change/", "admin/accounts", "")
    assert [label_of(route) for route in routes] == ["none", "none", "none", "/admin/", "/admin/accounts", "/"]
    assert [method_of(method) for method in ("GET", "BREW")] == ["GET", "other"]


def test_what_the_stock_handler_answers_is_counted_too(operator_api):
    labels = {"route": "/admin/accounts/{account_id}", "method": "GET", "status": "404"}
    before = figure(scrape(operator_api), "http_requests_total", **labels)
    operator_api.get("/admin/accounts/nobody")
    assert figure(scrape(operator_api), "http_requests_total", **labels) == before + 1


def test_reads_are_counted_by_tier(api, operator_api, workflow, intake, redis):
    def tiers():
        figures = scrape(operator_api)
        return [figure(figures, "tier_hits_total", read="resume", tier=tier) for tier in ("hot", "warm")]

    hot, warm = tiers()
    api.get(f"/workflows/{workflow}/resume")
    intake()
    redis.flushdb()
    api.get(f"/workflows/{workflow}/resume")
    assert tiers() == [hot + 1, warm + 1]


def test_the_queue_and_the_subscribers_show_how_far_they_are_behind(operator_api, workflow, intake):
    assert figure(scrape(operator_api), "queue_entries") > 0
    assert figure(scrape(operator_api), "intake_lag_seconds") > 0
    intake()
    figures = scrape(operator_api)
    assert figure(figures, "queue_entries") == figure(figures, "intake_lag_seconds") == 0
    assert ("snapstate_subscriber_lag_events", frozenset({("subscriber", "billing")})) in figures


def test_openmetrics_is_spoken_to_those_who_ask(operator_api):
    answer = operator_api.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
    assert answer.text.endswith("# EOF\n")


@pytest.fixture
def counter():
    yield Counter("snapstate_test", "Of a test.", ("who",))
    del metrics.series["snapstate_test"]


def test_the_figures_of_every_process_are_added_up(tmp_path, counter):
    ours, theirs = Board(tmp_path), Board(tmp_path)
    counter.count("a")
    theirs.publish()
    counter.count("b")
    assert ours.totals()["snapstate_test"] == {("a",): [2.0], ("b",): [1.0]}


def test_the_figures_of_a_process_that_is_gone_stay(tmp_path, counter):
    counter.count("a")
    Board(tmp_path).publish()
    counter.rows.clear()
    assert Board(tmp_path).totals()["snapstate_test"] == {("a",): [1.0]}


def test_a_folder_that_is_gone_is_made_again(tmp_path, counter):
    board = Board(tmp_path / "gone")
    counter.count("a")
    assert board.totals()["snapstate_test"] == {("a",): [1.0]}


def test_a_folder_that_cannot_be_written_hurts_nobody(tmp_path, counter, caplog):
    board = Board(tmp_path / "no" / "such" / "place")
    counter.count("a")
    assert board.totals()["snapstate_test"] == {("a",): [1.0]}
    assert "cannot be published" in caplog.text


def test_a_pinned_workflow_that_has_expired_is_no_backlog(api, intake, account, operator_api):
    save(api, "wf", 1, headers={"X-Checkpoint-TTL": "60"})
    intake()
    archiving.archive_expiring(now=timezone.now() + timedelta(seconds=45))
    assert api.patch("/workflows/wf", json={"pinned": True}).status_code == 200
    intake()
    hour_ago = timezone.now() - timedelta(hours=1)
    assert Workflow.objects.filter(account=account, pinned=True, evict_at__isnull=False).update(evict_at=hour_ago) == 1
    assert figure(scrape(operator_api), "eviction_due_oldest_seconds") < 3600
