"""The page of what runs behind the pages: it tells of failures, and answers while Redis is away."""

import time
import uuid

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client, override_settings

from billing.tasks import sample_storage
from snapstate_project import celery, ticks  # noqa: F401 (whose signals note runs)
from snapstate_project.events.models import SubscriberCursor

PAGE = "/admin/system/"
TASK = "billing.sample_storage"


@pytest.fixture(autouse=True)
def nothing_known():
    cache.delete(f"run:{TASK}")


@pytest.fixture
def failing():
    """A cursor that stands at an event it fails at, given back afterwards."""
    cursor, _ = SubscriberCursor.objects.get_or_create(name="billing")
    trouble = {"failing_event_id": cursor.position + 1, "failing_error": "ValueError: <b>odd</b>", "failures": 3}
    SubscriberCursor.objects.filter(pk=cursor.pk).update(**trouble)
    yield cursor
    SubscriberCursor.objects.filter(pk=cursor.pk).update(failing_event_id=None, failing_error="", failures=0)


def row_of(text, task):
    return text.split(f"<code>{task}</code>")[1].split("</tr>")[0]


def test_a_subscriber_that_fails_is_named_with_its_error(admin_client, failing):
    text = admin_client.get(PAGE).text
    assert f"at event {failing.position + 1}: ValueError: &lt;b&gt;odd&lt;/b&gt;" in text


def test_a_task_shows_how_it_went(admin_client):
    assert "Not known" in row_of(admin_client.get(PAGE).text, TASK)
    ticks.note_run(TASK, seconds=1.5)
    assert "1.5 s" in row_of(admin_client.get(PAGE).text, TASK)
    ticks.note_run(TASK, seconds=0.1, error=ValueError("no room"))
    assert "ValueError: no room" in row_of(admin_client.get(PAGE).text, TASK)
    ticks.note_run(TASK, seconds=1, now=time.time() - 4 * 3600)
    assert "Late" in row_of(admin_client.get(PAGE).text, TASK)


def test_a_worker_notes_what_it_has_run():
    assert sample_storage.apply().successful()
    assert not ticks.last_runs()[TASK].failed
    ticks.note_run("nobody.schedules_this", seconds=1)
    assert "nobody.schedules_this" not in ticks.last_runs()


def test_without_redis_the_page_answers(admin_client):
    down = {"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}
    with override_settings(CACHES=down):
        page = admin_client.get(PAGE)
    assert (page.status_code, "Not known" in page.text) == (200, True)


def test_it_is_for_operators_who_may_see_subscribers():
    user = User.objects.create_user(uuid.uuid4().hex, is_staff=True)
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)
    assert client.get(PAGE).status_code == 403
    user.groups.add(Group.objects.get(name="viewers"))
    assert client.get(PAGE).status_code == 200
    assert PAGE in client.get("/admin/").text
