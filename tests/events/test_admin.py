"""Events and subscribers on the operators' pages: found, counted nowhere, and skipped by administrators only."""

import re
import uuid

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from snapstate_project.common.errors import RedisDown
from snapstate_project.events import queue, recording, relay
from snapstate_project.events.models import Event
from tests.events.steps import cursor_of, happen

EVENTS, SUBSCRIBERS = "/admin/events/event/", "/admin/events/subscribercursor/"


@pytest.fixture
def member_of():
    """A browser's session of an operator in this group."""

    def sign_in(group):
        user = get_user_model().objects.create_user(username=uuid.uuid4().hex, is_staff=True)
        user.groups.add(Group.objects.get(name=group))
        client = Client(SERVER_NAME="localhost")
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def failing(subscribe):
    """A subscriber that fails at an event; both."""

    def refuse(events):
        raise ValueError("<b>not</b> this one")

    name, ids = subscribe(refuse), happen(2)
    relay.relay_once(name)
    return name, ids[0]


def skip(client, name, event_id):
    return client.post(f"{SUBSCRIBERS}{name}/skip/", {"event_id": event_id, "_form_submitted": "True"})


@pytest.mark.parametrize("group", ["viewers", "support", "administrators"])
def test_every_operator_sees_events_and_subscribers(member_of, failing, group):
    client = member_of(group)
    assert str(failing[1]) in client.get(EVENTS).text
    assert "&lt;b&gt;not&lt;/b&gt;" in client.get(SUBSCRIBERS).text
    assert client.get(f"{SUBSCRIBERS}{failing[0]}/change/").status_code == 200
    assert client.get(f"{EVENTS}{failing[1]}/change/").status_code == 200


def test_the_list_of_events_counts_no_table(admin_client):
    happen(120)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        pages = [admin_client.get(EVENTS, {"p": page}).text for page in ("1", "2", "x")]
    assert not [query for query in queries if 'COUNT(*) AS "__count" FROM "events_event"' in query["sql"]]
    assert ["Next" in page for page in pages] == [True, True, True]


def test_a_page_beyond_the_last_leads_to_the_first(admin_client):
    assert admin_client.get(EVENTS, {"p": "199", "q": "1"}).status_code == 302


@pytest.mark.parametrize("shown_as", [str, lambda account_id: account_id.hex])
def test_events_are_found_by_account(admin_client, shown_as):
    account_id, number = one_event()
    page = admin_client.get(EVENTS, {"q": shown_as(account_id)})
    assert numbers_in(page) == [number]


def test_events_are_found_by_digest_number_and_type(admin_client):
    digest = uuid.uuid4().hex
    _, number = one_event(digest)
    for query in ({"q": digest}, {"q": number}, {"q": digest, "type": "workflow.erased"}):
        assert numbers_in(admin_client.get(EVENTS, query)) == [number]


@pytest.mark.parametrize("query", [{"q": "nonsense"}, {"q": "9" * 30}, {"q": "1", "type": "workflow.completed"}])
def test_what_is_not_there_is_an_empty_list(admin_client, query):
    page = admin_client.get(EVENTS, query)
    assert (page.status_code, "Nothing matches" in page.text) == (200, True)


def numbers_in(page):
    return [int(number) for number in re.findall(rf'href="{EVENTS}(\d+)/change/', page.text)]


def one_event(digest="d" * 32):
    account_id = uuid.uuid4()
    with transaction.atomic():
        recording.record_event("workflow.erased", account_id, {"digest": digest, "generation": 2})
    return account_id, Event.objects.get(account_id=account_id).pk


def test_without_redis_the_lag_of_intake_is_unknown(admin_client, monkeypatch):
    def down(*_):
        raise RedisDown

    monkeypatch.setattr(queue, "read", down)
    page = admin_client.get(EVENTS)
    assert (page.status_code, "Unknown" in page.text) == (200, True)


def test_an_administrator_skips_the_failing_event(member_of, failing):
    name, event_id = failing
    client = member_of("administrators")
    assert f"fails at event {event_id}" in client.get(f"{SUBSCRIBERS}{name}/skip/").text
    assert skip(client, name, event_id).status_code == 302
    assert cursor_of(name).position == event_id
    assert f"Skipped event {event_id}" in client.get(f"{SUBSCRIBERS}{name}/history/").text


@pytest.mark.parametrize("group", ["viewers", "support"])
def test_nobody_else_skips(member_of, failing, group):
    client = member_of(group)
    assert "Skip the failing event" not in client.get(f"{SUBSCRIBERS}{failing[0]}/change/").text
    assert skip(client, *failing).status_code == 403
    assert cursor_of(failing[0]).position < failing[1]


def test_an_event_that_fails_no_longer_is_not_skipped(admin_client, failing):
    name, event_id = failing
    skip(admin_client, name, event_id)
    answer = skip(admin_client, name, event_id)
    assert "nothing was skipped" in admin_client.get(answer["Location"]).text
    assert cursor_of(name).position == event_id


@pytest.mark.parametrize("path", [EVENTS, SUBSCRIBERS, "/admin/billing/usagerecord/", "/admin/billing/usageday/"])
def test_nothing_can_be_added(admin_client, path):
    assert admin_client.get(f"{path}add/").status_code == 403
