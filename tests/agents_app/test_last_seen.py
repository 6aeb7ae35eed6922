"""When an agent was last seen: by its saves and resumes, never back in time; and the list in that order."""

import uuid
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.utils import timezone

from agents_app.models import Agent
from snapstate_project.events import recording
from snapstate_project.events.catalogue import CheckpointSaved, encode
from tests.events.steps import drain

NOON = datetime.fromisoformat("2026-11-29T12:00:00Z")


def saved_at(account, agent_id, at):
    body = CheckpointSaved(digest="d" * 32, generation=1, sequence=1, step=1, size_bytes=1, agent_id=agent_id)
    row = (uuid.uuid4().bytes, "checkpoint.saved", account.id, at, False, encode(body))
    with transaction.atomic(), connection.cursor() as cursor:
        recording.insert_events(cursor, [row])


def seen(account, agent_id="bot"):
    return Agent.objects.get(account=account, agent_id=agent_id).last_seen_at


def test_a_save_and_a_resume_move_the_time(api, account, intake):
    api.post("/agents", json={"agent_id": "bot"})
    saved = api.post("/checkpoints", json={"workflow_id": "wf", "step": 1, "state": {}, "agent_id": "bot"}).json()
    intake()
    assert api.get("/agents/bot").json()["last_seen_at"] == saved["created_at"]
    api.get("/workflows/wf/resume", params={"agent_id": "bot"})
    intake()
    assert api.get("/agents/bot").json()["last_seen_at"] > saved["created_at"]


def test_others_are_left_alone(api, account, stranger_api, intake):
    for client in (api, stranger_api):
        client.post("/agents", json={"agent_id": "bot"})
    api.post("/checkpoints", json={"workflow_id": "wf", "step": 1, "state": {}, "agent_id": "unknown"})
    stranger_api.post("/checkpoints", json={"workflow_id": "wf", "step": 1, "state": {}, "agent_id": "bot"})
    intake()
    assert seen(account) is None
    assert Agent.objects.filter(account=account).count() == 1


def test_the_time_never_goes_back(account):
    Agent.objects.create(account=account, agent_id="bot")
    saved_at(account, "bot", NOON)
    drain("agents", limit=1_000)
    saved_at(account, "bot", NOON - timedelta(hours=1))
    drain("agents", limit=1_000)
    assert seen(account) == NOON


def test_the_latest_of_a_batch_counts(account):
    Agent.objects.create(account=account, agent_id="bot")
    for minutes in (3, 9, 1):
        saved_at(account, "bot", NOON + timedelta(minutes=minutes))
    drain("agents", limit=1_000)
    assert seen(account) == NOON + timedelta(minutes=9)


def agents_of(account, *times):
    """Registered one second after the other."""
    began = timezone.now() - timedelta(hours=1)
    for number, at in enumerate(times):
        agent = Agent.objects.create(account=account, agent_id=f"a{number}", last_seen_at=at)
        Agent.objects.filter(pk=agent.pk).update(created_at=began + timedelta(seconds=number))


def listed(api, **query):
    answer = api.get("/agents", params=query).json()
    return [agent["agent_id"] for agent in answer["agents"]], answer["has_more"], answer["next_cursor"]


def test_the_list_begins_with_who_was_seen_last(api, account):
    agents_of(account, None, NOON, NOON + timedelta(days=1), None, NOON)
    assert listed(api) == (["a2", "a4", "a1", "a3", "a0"], False, None)


def test_pages_neither_skip_nor_repeat(api, account):
    agents_of(account, None, NOON, None, NOON, NOON + timedelta(days=1), None, NOON)
    whole, found, cursor = listed(api)[0], [], None
    for size in (3, 2, 2):
        page, has_more, cursor = listed(api, limit=size, **({"cursor": cursor} if cursor else {}))
        found += page
        assert has_more == (len(found) < 7)
    assert (found, cursor) == (whole, None)


def test_who_is_seen_between_two_pages_is_not_shown_twice(api, account):
    agents_of(account, NOON, NOON - timedelta(hours=1), NOON - timedelta(hours=2))
    page, _, cursor = listed(api, limit=1)
    saved_at(account, "a0", timezone.now() + timedelta(days=2))
    drain("agents", limit=1_000)
    assert (page, listed(api, cursor=cursor)[0]) == (["a0"], ["a1", "a2"])


def test_a_cursor_that_is_none_is_refused(api):
    assert {api.get("/agents", params={"cursor": text}).status_code for text in ("x", "bnVsbA", "W10")} == {400}
