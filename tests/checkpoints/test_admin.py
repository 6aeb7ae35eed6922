"""Workflows on the operators' pages: found by what operators know, shown with their steps, never with a state."""

import re
import uuid

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from checkpoints.models import Workflow
from checkpoints.timeline import STEPS_A_PAGE

LIST = "/admin/checkpoints/workflow/"
NASTY = "a/b?<script>#研究-🤖"


@pytest.fixture
def save(api, intake):
    """Save steps of a workflow and bring them to Postgres; the workflow's row."""

    def run(workflow_id, *steps, account, **more):
        for step in steps or (1,):
            body = {"workflow_id": workflow_id, "step": step, "state": {"secret": "do-not-show"}, **more}
            assert api.post("/checkpoints", json=body).status_code == 201
        intake()
        return Workflow.objects.get(account=account, workflow_id=workflow_id)

    return run


def found(client, **query):
    page = client.get(LIST, query)
    assert page.status_code == 200
    return {int(number) for number in re.findall(rf'href="{LIST}(\d+)/change/', page.text)}


@pytest.mark.parametrize("group", ["viewers", "support", "administrators"])
def test_every_operator_sees_workflows_and_changes_none(save, account, group):
    workflow = save("seen", account=account)
    user = get_user_model().objects.create_user(username=uuid.uuid4().hex, is_staff=True)
    user.groups.add(Group.objects.get(name=group))
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)
    assert workflow.pk in found(client, account=account.email)
    assert client.get(f"{LIST}{workflow.pk}/change/").status_code == 200
    assert client.post(f"{LIST}{workflow.pk}/change/", {"label": "x"}).status_code == 403
    assert client.post(f"{LIST}{workflow.pk}/delete/", {"post": "yes"}).status_code == 403


def test_workflows_are_found_by_how_their_id_begins(save, account, admin_client):
    name = f"job-{uuid.uuid4().hex}"
    one, other = save(f"{name}/1", account=account), save(f"{name}/2", account=account)
    assert found(admin_client, q=name) == {one.pk, other.pk}
    assert found(admin_client, q=f"{name}/1") == {one.pk}
    assert found(admin_client, q=f"{name}%") == set()


def test_workflows_are_found_by_their_account(save, account, admin_client):
    workflow = save("mine", account=account)
    for name in (account.email, account.email.upper(), str(account.id), account.id.hex):
        assert found(admin_client, q=name) == found(admin_client, account=name) == {workflow.pk}
    assert found(admin_client, account="nobody@example.com") == set()


def test_workflows_are_found_by_agent_label_and_status(save, account, admin_client):
    agent, label = uuid.uuid4().hex, f"{NASTY} {uuid.uuid4()}"
    workflow = save("marked", account=account, agent_id=agent, label=label, status="failed")
    save("unmarked", account=account)
    for query in ({"agent": agent}, {"label": label}, {"status": "failed", "account": account.email}):
        assert found(admin_client, **query) == {workflow.pk}
    assert found(admin_client, agent=agent, status="completed") == set()


def test_a_workflow_without_saves_for_a_day_is_stalled(save, account, admin_client):
    workflow = save("idle", account=account)
    assert found(admin_client, account=account.email, status="stalled") == set()
    Workflow.objects.filter(pk=workflow.pk).update(last_activity_at="2026-01-01T00:00Z")
    assert found(admin_client, account=account.email, status="stalled") == {workflow.pk}


def test_an_accounts_workflows_stand_in_the_order_of_their_activity(save, account, admin_client):
    first, second = save("first", account=account), save("second", account=account)
    save("first", 2, account=account)
    page = admin_client.get(LIST, {"account": account.email}).text
    assert re.findall(rf'href="{LIST}(\d+)/change/', page) == [str(first.pk), str(second.pk)]


def test_an_erased_workflow_is_not_listed(save, account, api, admin_client):
    save("gone", account=account)
    assert api.delete("/workflows/gone").status_code == 204
    assert found(admin_client, account=account.email) == set()


def test_no_table_is_counted(save, account, admin_client):
    save("counted", account=account)
    with CaptureQueriesContext(connection) as queries:
        found(admin_client)
        found(admin_client, account=account.email, status="active")
    assert not [query for query in queries if "COUNT(" in query["sql"] and "checkpoints_" in query["sql"]]


def test_a_workflows_page_shows_its_steps_and_no_state(save, account, admin_client):
    workflow = save(NASTY, 1, 2, 10, account=account, agent_id="planner", label="<b>")
    page = admin_client.get(f"{LIST}{workflow.pk}/change/").text
    assert re.findall(r'text-important whitespace-nowrap">(\d+)</td>', page) == ["10", "2", "1"]
    assert ("do-not-show" in page, "<b></td>" in page, "<script>#" in page) == (False, False, False)
    assert f"{workflow.generation}-{workflow.head_sequence}-" in page


def test_steps_are_shown_page_by_page(save, account, admin_client):
    workflow = save("long", *range(STEPS_A_PAGE + 3), account=account)
    newest = admin_client.get(f"{LIST}{workflow.pk}/change/").text
    assert 'href="?before=3"' in newest
    oldest = admin_client.get(f"{LIST}{workflow.pk}/change/?before=3").text
    assert re.findall(r'text-important whitespace-nowrap">(\d+)</td>', oldest) == ["2", "1", "0"]
    assert "Older" not in oldest


@pytest.mark.parametrize("path", ["999999999999/change/", "x/change/", "add/"])
def test_what_is_not_there_is_no_failure(admin_client, path):
    assert admin_client.get(LIST + path).status_code in {302, 403}
