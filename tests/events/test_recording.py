"""How events are inserted, what they hold, and when they go."""

import uuid
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from django.db import connection, transaction

from snapstate_project.events import catalogue, recording, relay, services
from snapstate_project.events.models import Event
from tests.events.steps import cursor_of, happen

AT = datetime(2026, 2, 28, 23, 59, 59, 999_999, tzinfo=UTC)
NASTY = 'a\0b \x1f "quoted" \\ \\0 {}, NULL \n 研究-🤖 café'


def row(account_id, *, uid=None, data=None):
    body = data or catalogue.WorkflowErased(digest="d" * 32, generation=3)
    return (uid or uuid.uuid4().bytes, "workflow.erased", account_id, AT, True, catalogue.encode(body))


def insert(rows):
    with transaction.atomic(), connection.cursor() as cursor:
        return recording.insert_events(cursor, rows)


def test_a_row_comes_back_as_it_went_in():
    account_id = uuid.uuid4()
    given = row(account_id)
    insert([given])
    event = Event.objects.get(account_id=account_id)
    assert (bytes(event.uid), event.type, event.account_id, event.at, event.erased, event.data) == given


def test_a_row_that_is_there_already_is_passed_over():
    account_id = uuid.uuid4()
    rows = [row(account_id) for _ in range(3)]
    assert (insert(rows[:2]), insert(rows), insert([])) == (2, 1, 0)
    assert Event.objects.filter(account_id=account_id).count() == 3


def test_rows_get_their_ids_in_the_order_given():
    account_id = uuid.uuid4()
    rows = [row(account_id) for _ in range(50)]
    insert(rows)
    uids = Event.objects.filter(account_id=account_id).order_by("id").values_list("uid", flat=True)
    assert [bytes(uid) for uid in uids] == [given[0] for given in rows]


def test_a_raw_psycopg_cursor_does_as_well(sql):
    account_id = uuid.uuid4()
    with sql.transaction(), sql.cursor() as cursor:
        assert recording.insert_events(cursor, [row(account_id)]) == 1
    assert Event.objects.get(account_id=account_id).at == AT


def test_users_text_survives_in_the_data_of_an_event(account):
    body = catalogue.WorkflowResumed(digest="d" * 32, generation=1, workflow_id=NASTY, agent_id=NASTY)
    with transaction.atomic():
        recording.record_event("workflow.resumed", account.id, body)
    assert Event.objects.get(account_id=account.id).body == body


def test_an_event_is_recorded_in_the_transaction_of_its_cause_only():
    account_id = uuid.uuid4()
    with pytest.raises(transaction.TransactionManagementError):
        recording.record_event("workflow.erased", account_id, {"digest": "d" * 32, "generation": 2})
    with transaction.atomic():
        recording.record_event("workflow.erased", account_id, {"digest": "d" * 32, "generation": 2})
        transaction.set_rollback(True)
    assert not Event.objects.filter(account_id=account_id).exists()


@pytest.mark.parametrize(
    ("event_type", "data", "error"),
    [
        ("workflow.misspelt", {"digest": "d", "generation": 1}, KeyError),
        ("workflow.erased", {"digest": "d"}, msgspec.ValidationError),
        ("workflow.erased", {"digest": "d", "generation": "1"}, msgspec.ValidationError),
    ],
)
def test_what_the_catalogue_does_not_list_is_not_recorded(event_type, data, error):
    with pytest.raises(error), transaction.atomic():
        recording.record_event(event_type, uuid.uuid4(), data)


def test_a_subscriber_of_events_that_do_not_exist_is_refused():
    with pytest.raises(ValueError, match=r"workflow\.misspelt"):
        relay.subscribe("test", "workflow.misspelt")


def test_two_subscribers_cannot_share_a_name():
    with pytest.raises(ValueError, match="billing"):
        relay.subscribe("billing", "workflow.erased")(print)


OF_WORKFLOWS = [name for name in catalogue.CATALOGUE if not name.startswith("quota.")]


@pytest.mark.parametrize("name", OF_WORKFLOWS)
def test_the_digest_of_a_workflow_stands_first_where_the_index_looks_for_it(name):
    assert msgspec.structs.fields(catalogue.CATALOGUE[name])[0].name == "digest"


def test_events_are_found_by_the_digest_of_their_workflow():
    account_id, digest = uuid.uuid4(), uuid.uuid4().hex
    insert([row(account_id, data=catalogue.WorkflowErased(digest=digest, generation=2))])
    assert [event.account_id for event in Event.objects.of_workflow(digest)] == [account_id]


def test_events_go_after_thirty_days_and_not_before():
    old, young = (insert_at(AT - timedelta(days=30, seconds=seconds)) for seconds in (1, -1))
    services.prune_events(now=AT, batch=10_000_000)
    left = Event.objects.filter(account_id__in=[old, young]).values_list("account_id", flat=True)
    assert list(left) == [young]


def insert_at(at):
    account_id = uuid.uuid4()
    with transaction.atomic():
        recording.record_event("workflow.erased", account_id, {"digest": "d" * 32, "generation": 2}, at=at)
    return account_id


def test_lag_is_counted_in_events_and_seconds(subscribe):
    name = subscribe()
    ids = happen(3)
    first = Event.objects.get(id=ids[0])
    lag = services.lag_of(cursor_of(name), now=first.at + timedelta(hours=2))
    assert (lag.events, lag.seconds, lag.is_alert) == (3, 7200.0, True)
    relay.relay_once(name)
    assert services.lag_of(cursor_of(name)) == services.Lag(0, 0.0)
