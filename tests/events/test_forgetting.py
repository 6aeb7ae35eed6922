"""What a customer wrote goes from the events of an erased workflow; what was counted by them stays as it was."""

import uuid
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from agents_app.models import Agent
from analytics import services
from snapstate_project.events import catalogue, relay
from snapstate_project.events import intake as taking
from snapstate_project.events.catalogue import WorkflowErased, without_texts
from snapstate_project.events.models import Event
from tests.analytics.steps import count, erased, everything_of, happened, resumed, save, saved
from tests.events.steps import cursor_of, drain

NOW = datetime.now(UTC)


@pytest.fixture
def secret():
    """A word that the customer's texts hold, and nothing else does."""
    return f"secret-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def live(api, secret):
    """Everything that events tell of, and an erase at its end."""
    api.post("/agents", json={"agent_id": secret}).raise_for_status()
    error = {"type": secret, "message": f"{secret} 研究 \0"}
    save(api, secret, 1, label=secret, agent_id=secret, error=error)
    save(api, secret, 2, status="failed", label=secret, agent_id=secret, error=error)
    save(api, secret, 3, status="completed", label=secret)
    api.get(f"/workflows/{secret}/resume", params={"agent_id": secret}).raise_for_status()
    api.get(f"/workflows/{secret}/replay").raise_for_status()

    def erase():
        assert api.delete(f"/workflows/{secret}").status_code == 204

    return erase


def telling(account, word):
    """The events of an account that hold a word."""
    return Event.objects.filter(account_id=account.id, data__contains=word)


def test_no_event_tells_what_the_customer_wrote_once_it_is_erased(live, intake, account, secret):
    intake()
    assert set(telling(account, secret).values_list("type", flat=True)) == {
        "checkpoint.saved", "workflow.resumed", "workflow.replayed", "workflow.failed", "workflow.completed",
    }  # fmt: skip
    live()
    intake()
    assert not telling(account, secret).exists()


def test_what_was_counted_stays_and_can_be_counted_again(live, api, intake, account):
    intake()
    live()
    intake()
    used, counted = api.get("/usage").json()["usage"], everything_of(account)
    assert [used[name]["count"] for name in ("checkpoint_writes", "resume_calls", "replay_calls")] == [3, 1, 1]
    assert counted["days"][0][2:] == (3, 0, 1, 2)
    services.rebuild()
    assert everything_of(account) == counted


def test_what_comes_after_an_erase_or_is_anothers_keeps_its_texts(live, api, stranger_api, intake, account, secret):
    save(stranger_api, secret, 1, label=secret)
    intake()
    live()
    save(api, secret, 1, label=secret)
    intake()
    assert [event.body.generation for event in telling(account, secret)] == [2]
    assert Event.objects.filter(data__contains=secret).count() == 2


def test_it_waits_until_all_others_have_heard(subscribe, account, secret):
    slow = subscribe()
    happened(account, NOW, saved(account, secret, 1), erased(account, secret))
    for name in relay.subscribers:
        if name not in (slow, "erasures"):
            drain(name, limit=1_000)
    drain("erasures", limit=1_000)
    assert telling(account, secret).exists()
    drain(slow)
    drain("erasures", limit=1_000)
    assert not telling(account, secret).exists()


def test_it_waits_for_one_that_has_not_begun(subscribe, account, secret):
    new = subscribe()
    cursor_of(new).delete()
    happened(account, NOW, saved(account, secret, 1), erased(account, secret))
    for name in relay.subscribers:
        if name not in (new, "erasures"):
            drain(name, limit=1_000)
    assert relay.relay_once("erasures") == 0
    assert telling(account, secret).exists()


def test_it_passes_as_many_at_once_as_the_others(account, secret):
    """Else it would fall behind for good where much is saved."""
    happened(account, NOW, *[saved(account, secret, step) for step in range(400)])
    for name in relay.subscribers:
        drain(name, limit=1_000)
    happened(account, NOW, *[saved(account, secret, step) for step in range(400, 800)])
    for name in relay.subscribers:
        if name != "erasures":
            drain(name, limit=1_000)
    assert relay.relay_once("erasures") >= 400


def test_an_agents_last_sight_is_not_lost_with_the_text(live, intake, account, secret):
    taking.drain()  # to Postgres, and no further
    live()
    intake()
    assert Agent.objects.get(account=account, agent_id=secret).last_seen_at is not None


def test_a_long_workflow_is_forgotten_whole(intake, account, secret):
    happened(account, NOW - timedelta(days=2), *[saved(account, secret, step, label=secret) for step in range(2_500)])
    happened(account, NOW, resumed(account, secret), erased(account, secret))
    count()
    intake()
    assert not telling(account, secret).exists()
    assert Event.objects.filter(account_id=account.id).count() == 2_502


@pytest.mark.parametrize("name", sorted(catalogue.CATALOGUE))
def test_every_text_of_every_event_goes_or_is_none_of_the_customers(name):
    ours = {"digest", "source", "status", "reason", "meter", "month"}
    kind = catalogue.CATALOGUE[name]
    texts = {field.name for field in msgspec.structs.fields(kind) if "str" in str(field.type)} - ours
    body = msgspec.convert({**dict.fromkeys(texts, "x"), **filled(kind, texts)}, kind)
    left = msgspec.structs.asdict(without_texts(body))
    assert {field: left[field] for field in texts} == {
        field: None if field in ("label", "agent_id") else "" for field in texts
    }
    assert {**left, **dict.fromkeys(texts, "x")} == msgspec.structs.asdict(body)


def filled(kind, texts):
    """Any value for what has no default."""
    values = {int: 7, str: "y", int | float: 7}
    required = [field for field in msgspec.structs.fields(kind) if field.required and field.name not in texts]
    return {field.name: values[field.type] for field in required}


def test_an_error_stays_an_error():
    body = catalogue.CheckpointSaved(digest="d", generation=1, sequence=1, step=1, size_bytes=1, error_type="x")
    assert without_texts(body).error_type == ""
    assert without_texts(WorkflowErased(digest="d", generation=2)) == WorkflowErased(digest="d", generation=2)
