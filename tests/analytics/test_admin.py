"""Statistics and errors on the operators' pages: found by what operators know, changed by nobody, counted nowhere."""

import re
import uuid

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analytics.models import WorkflowError, WorkflowStats
from tests.analytics.steps import count, happened, noon, resumed, saved

STATS, ERRORS = "/admin/analytics/workflowstats/", "/admin/analytics/workflowerror/"
NASTY = "a/b?<script>#研究-🤖"


@pytest.fixture
def stats(account):
    happened(account, noon("2026-11-28"), saved(account, NASTY, 1, agent_id="ada"), resumed(account, NASTY))
    happened(account, noon("2026-11-29"), saved(account, NASTY, 2, status="failed", agent_id="bob",
                                                error_type="time<b>out", error_message="no\x00 answer"))  # fmt: skip
    count()
    return WorkflowStats.objects.get(account=account)


@pytest.fixture
def error(stats):
    return WorkflowError.objects.get(stats=stats)


def found(client, path, **query):
    page = client.get(path, query)
    assert page.status_code == 200
    return {int(number) for number in re.findall(rf'href="{path}(\d+)/change/', page.text)}


@pytest.mark.parametrize("group", ["viewers", "support", "administrators"])
def test_every_operator_sees_them_and_changes_none(stats, error, group):
    user = get_user_model().objects.create_user(username=uuid.uuid4().hex, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)
    sidebar = client.get("/admin/").text
    for path, row in ((STATS, stats), (ERRORS, error)):
        assert path in sidebar
        assert client.get(f"{path}{row.pk}/change/").status_code == 200
        assert client.post(f"{path}{row.pk}/change/", {"step": 1}).status_code == 403
        assert client.post(f"{path}{row.pk}/delete/", {"post": "yes"}).status_code == 403


def test_a_workflows_page_tells_of_its_work(stats, admin_client):
    page = admin_client.get(f"{STATS}{stats.pk}/change/").text
    for told in ("2 steps, 20", "1 time on 1 day", "ada (1 step), bob (1 step)", "1 d 0 h", "failed"):
        assert told in page
    assert ("<script>#" in page, f"{ERRORS}?stats={stats.pk}" in page) == (False, True)


def test_an_errors_page_tells_what_was_said(error, admin_client):
    page = admin_client.get(f"{ERRORS}{error.pk}/change/").text
    assert ("time&lt;b&gt;out" in page, "no\x00 answer" in page, "bob" in page) == (True, True, True)


def test_statistics_are_found_by_workflow_account_and_status(stats, account, admin_client):
    for query in ({"q": account.email}, {"q": str(account.id)}, {"q": account.email, "status": "failed"}):
        assert found(admin_client, STATS, **query) == {stats.pk}
    assert stats.pk in found(admin_client, STATS, q=NASTY)
    assert found(admin_client, STATS, q=account.email, status="stalled") == set()
    WorkflowStats.objects.filter(pk=stats.pk).update(status="active", last_checkpoint_at="2026-01-01T00:00Z")
    assert found(admin_client, STATS, q=account.email, status="stalled") == {stats.pk}


def test_errors_are_found_by_account_agent_type_and_workflow(error, account, admin_client):
    mine = {"q": account.email}
    for query in ({}, {"agent": "bob"}, {"type": "time<b>out"}, {"stats": error.stats_id}):
        assert found(admin_client, ERRORS, **mine, **query) == {error.pk}
    for query in ({"agent": "ada"}, {"type": "other"}, {"stats": error.stats_id + 1}):
        assert found(admin_client, ERRORS, **mine, **query) == set()


def test_no_table_is_counted(stats, account, admin_client):
    with CaptureQueriesContext(connection) as queries:
        found(admin_client, STATS)
        found(admin_client, STATS, q=account.email, status="failed")
        found(admin_client, ERRORS)
    assert not [query for query in queries if "COUNT(" in query["sql"] and "analytics_" in query["sql"]]
