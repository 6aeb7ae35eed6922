"""What operators do with a workflow: compare steps, see a state, move it, pin it, erase it, download it."""

import threading
import uuid
from datetime import timedelta
from urllib.parse import urlencode

import msgspec
import pytest
from auditlog.models import LogEntry
from django.conf import settings
from django.contrib.admin.models import LogEntry as PageEntry
from django.contrib.auth.models import Group, Permission, User
from django.db import connections
from django.test import Client, override_settings
from django.utils import timezone

from checkpoints import action_admin, archiving
from checkpoints.models import Checkpoint, Workflow
from snapstate_project.events.models import Event

LIST = "/admin/checkpoints/workflow/"
FIRST = {"user": {"name": "Ada"}, "n": 9007199254740993, "gone": [1, {}], "a.b": "<i>", "same": 1}
SECOND = {"user": {"name": "Grace"}, "n": 1.50, "new": None, "a.b": "<b>", "same": 1}
EMPTY = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": "/proc/nowhere"}}
NOBODY = {"endpoint_url": "http://127.0.0.1:1", "access_key": "a", "secret_key": "b", "bucket_name": "c"}
AWAY = {"BACKEND": "snapstate_project.common.r2.R2Storage", "OPTIONS": NOBODY}


@pytest.fixture
def wf():
    return f"look/{uuid.uuid4().hex}"


@pytest.fixture(autouse=True)
def no_intake_to_wait_for(monkeypatch):
    monkeypatch.setattr(action_admin, "SHOWN_WITHIN_SECONDS", 0.03)


@pytest.fixture
def workflow(api, intake, account, wf):
    """Two steps, in Postgres and Redis."""
    for step, state in enumerate((FIRST, SECOND), 1):
        body = {"workflow_id": wf, "step": step, "state": state, "agent_id": "planner", "metadata": {"team": "blue"}}
        assert api.post("/checkpoints", json=body).status_code == 201
    intake()
    return Workflow.objects.get(account=account)


@pytest.fixture
def as_one_of():
    def sign_in(group, *permissions):
        user = User.objects.create_user(uuid.uuid4().hex, is_staff=True)
        user.groups.add(Group.objects.get(name=group))
        user.user_permissions.add(*Permission.objects.filter(codename__in=permissions))
        client = Client(SERVER_NAME="localhost")
        client.force_login(user)
        return client

    return sign_in


def page(client, workflow, rest="change/", **query):
    return client.get(f"{LIST}{workflow.pk}/{rest}" + (f"?{urlencode(query)}" if query else ""))


def act(client, workflow, action, **more):
    return client.post(f"{LIST}{workflow.pk}/{action}/", {"confirmed": "yes", **more}, follow=True)


def looks(workflow):
    noted = LogEntry.objects.get_for_object(workflow).filter(action=LogEntry.Action.ACCESS)
    return [entry.additional_data["what"] for entry in noted.order_by("pk")]


def archived(admin_client, workflow):
    assert "Archived" in act(admin_client, workflow, "archive_now").text
    workflow.refresh_from_db()
    assert workflow.is_cold
    return workflow


def test_two_steps_are_compared_with_their_values_as_sent(admin_client, workflow):
    shown = page(admin_client, workflow, "diff/").text
    for value in (
        "&quot;Ada&quot;",
        "&quot;Grace&quot;",
        "9007199254740993",
        "1.5",
        "user.name",
        "gone[1]",
        "&lt;b&gt;",
    ):
        assert value in shown, value
    assert "<code>same</code>" not in shown
    assert looks(workflow) == ["Compared step 1 with step 2."]


def test_without_the_permission_a_diff_has_paths_alone(as_one_of, workflow):
    shown = page(as_one_of("viewers"), workflow, "diff/", to=2).text
    assert "user.name" in shown
    assert ("Grace" in shown, "9007199254740993" in shown, looks(workflow)) == (False, False, [])


@pytest.mark.parametrize("query", [{"from": 1, "to": 9}, {"from": 7, "to": 2}, {"to": "x" * 30}, {"from": "9" * 30}])
def test_steps_that_are_not_there_are_no_failure(admin_client, workflow, query):
    assert page(admin_client, workflow, "diff/", **query).status_code == 200


def test_a_state_is_shown_by_permission_alone_and_each_look_noted(as_one_of, workflow):
    assert page(as_one_of("viewers"), workflow, "state/1/").status_code == 403
    assert page(as_one_of("support"), workflow, "download/").status_code == 403
    shown = page(as_one_of("viewers", "view_state"), workflow, "state/1/").text
    assert "&quot;n&quot;:9007199254740993" in shown
    assert looks(workflow) == ["Saw the state of step 1."]
    assert "State of step" not in page(as_one_of("viewers"), workflow).text


def test_a_save_shows_before_postgres_has_it(api, admin_client, workflow, wf):
    api.post("/checkpoints", json={"workflow_id": wf, "step": 3, "state": {"late": True}})
    shown = page(admin_client, workflow).text
    assert 'whitespace-nowrap">3</td>' in shown
    assert "&quot;late&quot;:true" in page(admin_client, workflow, "state/3/").text


def test_errors_stand_on_the_page(api, intake, admin_client, workflow, wf):
    error = {"type": "ToolTimeout", "message": "<u>30 s</u>"}
    api.post("/checkpoints", json={"workflow_id": wf, "step": 3, "state": {}, "status": "failed", "error": error})
    intake()
    shown = page(admin_client, workflow).text
    assert "<b>ToolTimeout</b>: &lt;u&gt;30 s&lt;/u&gt;" in shown


def test_an_operator_archives_it_now_and_makes_it_hot_again(admin_client, api, intake, workflow, wf):
    archived(admin_client, workflow)
    assert not Checkpoint.objects.filter(workflow=workflow).exists()
    told = {event.type: event.body for event in Event.objects.filter(account_id=workflow.account_id)}
    assert (getattr(told["workflow.archived"], "reason", ""), "workflow.expired" in told) == ("operator", False)
    shown = page(admin_client, workflow).text
    assert (shown.count(">archive</td>"), shown.count(">planner</td>")) == (2, 2)
    assert "&quot;Ada&quot;" in page(admin_client, workflow, "diff/").text
    assert "Made hot" in act(admin_client, workflow, "make_hot").text
    intake()
    assert "workflow.resumed" not in Event.objects.filter(account_id=workflow.account_id).values_list("type", flat=True)
    resumed = api.get(f"/workflows/{wf.replace('/', '%2F')}/resume").json()
    assert (resumed["source"], resumed["latest_checkpoint"]["state"]) == ("hot", SECOND)


def test_what_was_made_hot_leaves_again_without_an_event(admin_client, workflow):
    archived(admin_client, workflow)
    act(admin_client, workflow, "make_hot")
    archiving.archive_expiring(now=timezone.now() + timedelta(days=8))
    workflow.refresh_from_db()
    assert workflow.is_cold
    assert not Event.objects.filter(account_id=workflow.account_id, type="workflow.expired").exists()


def test_a_pinned_workflow_is_not_archived_until_it_is_unpinned(admin_client, intake, workflow):
    assert "Pinned" in act(admin_client, workflow, "pin").text
    intake()
    assert "never: pinned" in page(admin_client, workflow).text
    assert "Nothing was done" in act(admin_client, workflow, "archive_now").text
    act(admin_client, workflow, "unpin")
    intake()
    archived(admin_client, workflow)


def test_the_page_after_a_pin_waits_until_it_is_true(admin_client, intake, workflow, monkeypatch):
    monkeypatch.setattr(action_admin, "SHOWN_WITHIN_SECONDS", 30.0)

    def take() -> None:
        intake()
        connections.close_all()

    later = threading.Timer(0.5, take)
    later.start()
    assert "never: pinned" in act(admin_client, workflow, "pin").text
    later.join()


def test_what_redis_holds_alone_is_not_archived(api, admin_client, workflow, wf):
    api.post("/checkpoints", json={"workflow_id": wf, "step": 3, "state": {"late": True}})
    assert "Redis holds what Postgres has not taken yet" in act(admin_client, workflow, "archive_now").text
    workflow.refresh_from_db()
    assert (workflow.is_cold, workflow.evict_at) == (False, None)


def test_it_is_erased_once_its_id_is_typed(admin_client, api, workflow, wf):
    assert "This is not the id" in act(admin_client, workflow, "erase", typed="something else").text
    assert api.get(f"/workflows/{wf.replace('/', '%2F')}").status_code == 200
    act(admin_client, workflow, "erase", typed=wf)
    assert api.get(f"/workflows/{wf.replace('/', '%2F')}").status_code == 404
    entry = LogEntry.objects.get_for_object(workflow).latest("pk")
    assert "Erased" in entry.additional_data["what"]
    assert wf not in entry.object_repr
    assert not PageEntry.objects.filter(object_repr__contains=wf).exists()


@pytest.mark.parametrize(("group", "allowed"), [("viewers", False), ("support", True)])
def test_who_may_move_and_who_may_erase(as_one_of, workflow, group, allowed):
    client = as_one_of(group)
    assert (client.get(f"{LIST}{workflow.pk}/pin/").status_code == 200) is allowed
    assert (client.get(f"{LIST}{workflow.pk}/archive_now/").status_code == 200) is allowed
    assert client.post(f"{LIST}{workflow.pk}/erase/", {"confirmed": "yes"}).status_code == 403


def test_all_of_it_is_downloaded_as_lines_of_json(admin_client, connect, base_url, workflow):
    archived(admin_client, workflow)
    cookie = admin_client.cookies[settings.SESSION_COOKIE_NAME].value
    browser = connect("")
    browser.cookies.set(settings.SESSION_COOKIE_NAME, cookie)
    answer = browser.get(f"{LIST}{workflow.pk}/download/")
    states = [msgspec.json.decode(line)["state"] for line in answer.text.splitlines()]
    assert (states, b'"n":9007199254740993' in answer.content) == ([FIRST, SECOND], True)
    assert "attachment" in answer.headers["Content-Disposition"]
    assert looks(workflow) == ["Downloaded all of it."]


@pytest.mark.parametrize(("archive", "what"), [(EMPTY, "cannot be read"), (AWAY, "cannot be reached")])
def test_without_the_archive_the_pages_answer(admin_client, workflow, archive, what):
    archived(admin_client, workflow)
    with override_settings(STORAGES={**settings.STORAGES, "archive": archive}):
        assert page(admin_client, workflow).text.count(">archive</td>") == 2
        assert what in page(admin_client, workflow, "state/1/").text
        assert what in page(admin_client, workflow, "diff/").text
        assert what in act(admin_client, workflow, "make_hot").text


def test_without_redis_the_pages_answer(admin_client, workflow, wf):
    with override_settings(REDIS_URL="redis://127.0.0.1:1/0"):
        shown = page(admin_client, workflow)
        assert (shown.status_code, "Redis cannot be asked" in shown.text) == (200, True)
        assert page(admin_client, workflow, "diff/").status_code == 200
        assert page(admin_client, workflow, "state/1/").status_code == 200
        assert act(admin_client, workflow, "pin").status_code == 200
