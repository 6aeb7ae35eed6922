"""Every event of the contract really comes, once, from what really happens to a workflow."""

from datetime import timedelta

import pytest
from django.utils import timezone

from checkpoints import archiving
from tests.webhooks.steps import deliver, deliveries
from webhooks.messages import EVENTS

NAMED = ("workflow_id", "checkpoint_id", "step", "etag", "sequence")


@pytest.fixture
def heard(hook, receiver):
    """What a webhook of all events has heard by now, by type, in the order of the deliveries."""
    to = receiver(200)
    registered = hook(to.url, *EVENTS)

    def by_type():
        deliver()
        got = {each.headers["webhook-id"]: each.json for each in to.got}
        return [(got[each.event_id]["type"], got[each.event_id]["data"]) for each in deliveries(registered)]

    return by_type


def save(api, step, **more):
    headers = {"X-Checkpoint-TTL": "60"}
    return api.post(
        "/checkpoints", json={"workflow_id": "é/1", "step": step, "state": {}, **more}, headers=headers
    ).json()


def types(heard):
    return [event_type for event_type, _ in heard()]


def test_a_life_is_told_from_the_first_save_to_the_archive(api, intake, heard):
    save(api, 1, agent_id="a")
    api.get("/workflows/%C3%A9%2F1/resume", params={"agent_id": "b"})
    save(api, 2, status="failed", error={"type": "Boom", "message": "it \u0000 broke"})
    last = save(api, 3, status="completed")
    intake()
    archiving.archive_expiring(now=timezone.now() + timedelta(minutes=2))
    intake()
    assert types(heard) == [
        *("checkpoint.saved", "workflow.resumed", "checkpoint.saved", "workflow.failed"),
        *("checkpoint.saved", "workflow.completed", "workflow.archived", "workflow.expired"),
    ]
    told = dict(heard())
    assert told["workflow.archived"]["reason"] == "ttl"
    for event_type in ("workflow.completed", "workflow.archived", "workflow.expired"):
        assert [told[event_type][name] for name in NAMED[:4]] == [last[name] for name in NAMED[:4]]


def test_a_resume_names_what_was_resumed_and_who_did(api, intake, heard):
    saved_as = save(api, 1)
    api.get("/workflows/%C3%A9%2F1/resume", params={"agent_id": "b"})
    intake()
    told = dict(heard())
    resumed = told["workflow.resumed"]
    assert [resumed[name] for name in NAMED[:4]] == [saved_as[name] for name in NAMED[:4]]
    assert resumed["sequence"] == told["checkpoint.saved"]["sequence"]
    assert (resumed["agent_id"], resumed["source"]) == ("b", "hot")


def test_a_failure_tells_its_error(api, intake, heard):
    save(api, 1, status="failed", error={"type": "Boom", "message": "it \u0000 broke"})
    intake()
    assert dict(heard())["workflow.failed"]["error"] == {"type": "Boom", "message": "it \u0000 broke"}


def test_a_replay_of_a_save_is_told_once(api, intake, heard):
    for _ in range(3):
        save(api, 1)
    intake()
    assert types(heard) == ["checkpoint.saved"]


def test_nothing_that_only_we_understand_is_told(api, intake, heard):
    save(api, 1)
    intake()
    (told,) = [data for _, data in heard()]
    assert set(told) >= {*NAMED, "size_bytes", "agent_id", "status", "replaced", "error"}
    assert not set(told) & {"digest", "generation", "head_changed", "error_type", "state", "metadata"}
