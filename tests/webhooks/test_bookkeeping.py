"""What came of an attempt is written down once, whatever befalls the others that are written down with it."""

import threading
from datetime import timedelta

import pytest
from django.db import DatabaseError, OperationalError, connection
from django.utils import timezone

from snapstate_project.dev.process import wait_until
from snapstate_project.dev.server import free_port
from tests.webhooks.receiver import Answering
from tests.webhooks.steps import deliver, delivery, endpoint, happened, queue, saved, seconds_from_now
from webhooks import delivering
from webhooks.claims import LEASE, claim, find_due
from webhooks.outcomes import FAULT_OF_OURS, Outcome, write_down
from webhooks.sender import Answer
from webhooks.services import register_endpoint, resend

REFUSE = """
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {act}; RETURN NEW; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON webhooks_delivery FOR EACH ROW
        WHEN ({when}) EXECUTE FUNCTION refuse();
"""
REFUSE_NO_MORE = "DROP TRIGGER IF EXISTS refuse ON webhooks_delivery"
OF_POISON, OF_CLAIMS = "NEW.attempts -> -1 ->> 'response' = 'poison'", "NEW.attempts = '[]'"
FAIL, TAKE_TOO_LONG = "RAISE 'refused'", "RAISE 'too long' USING ERRCODE = 'query_canceled'"
HANG_UP = "PERFORM pg_terminate_backend(pg_backend_pid())"
POISON = Answering(503, body=b"poison")


@pytest.fixture
def refuse(sql):
    """Has Postgres do this instead of writing down what came of an attempt that was answered with `poison`."""
    yield lambda act, when=OF_POISON: sql.execute(REFUSE.format(act=act, when=when))
    sql.execute(REFUSE_NO_MORE)


@pytest.fixture
def keep_delivering():
    """Starts the loop of a process of its own in a thread; the id of its connection to Postgres."""
    stop, connections = threading.Event(), []

    def run():
        with connection.cursor() as cursor:
            connections.append(cursor.execute("SELECT pg_backend_pid()").fetchone()[0])
        delivering.keep_delivering(stop)

    thread = threading.Thread(target=run)
    thread.start()
    assert wait_until(lambda: bool(connections), seconds=10)
    yield connections[0]
    stop.set()
    thread.join()


@pytest.fixture
def of_another(make_account, receiver):
    """An account of somebody else with a webhook, and its receiver, which takes a second to answer."""
    account, to = make_account(), receiver(Answering(200, after=1.0))
    registered = register_endpoint(account.id, url=to.url, events=["checkpoint.saved"])
    return account, {"webhook_id": registered.webhook_id}, to


def logged(hook):
    return [(attempt["status_code"], attempt["error"]) for attempt in delivery(hook).attempts]


def happened_to(*accounts):
    for account in accounts:
        happened(account, saved())
    queue()


def claimed():
    now = timezone.now()
    return claim(dict.fromkeys(find_due(now), 8), now)


def outcome(parcel, status=200, response=""):
    return Outcome(parcel, timezone.now(), Answer(status_code=status, response=response))


def test_an_answer_that_cannot_be_stored_is_a_failed_attempt_of_its_own(account, hook, receiver, refuse, of_another):
    refuse(FAIL)
    registered, (other, others, to) = hook(receiver(POISON, 200).url), of_another
    happened_to(account, other)
    assert deliver() == 2
    assert (logged(others), delivery(others).status, len(to.got)) == ([(200, None)], "delivered", 1)
    assert (logged(registered), endpoint(registered).failing_since) == ([(None, FAULT_OF_OURS)], None)
    assert 2 < seconds_from_now(delivery(registered).next_attempt_at) <= 6
    deliver(timedelta(seconds=7))
    assert (logged(registered)[1:], delivery(registered).status) == ([(200, None)], "delivered")


@pytest.mark.parametrize("act", [FAIL, TAKE_TOO_LONG, HANG_UP])
def test_in_one_batch_with_others_it_costs_them_nothing(account, hook, refuse, act):
    refuse(act)
    hooks = [hook("https://hooks.example.com") for _ in range(3)]
    happened_to(account)
    first, second, third = sorted(claimed(), key=lambda parcel: parcel.due.endpoint_id)
    write_down([outcome(first), outcome(second, response="poison"), outcome(third)], timezone.now())
    assert [delivery(each).status for each in hooks] == ["delivered", "pending", "delivered"]
    assert [logged(each)[0][1] for each in hooks] == [None, FAULT_OF_OURS, None]


def test_what_can_never_be_written_down_is_left_to_its_lease(account, hook, refuse, sql):
    hooks = [hook("https://hooks.example.com") for _ in range(2)]
    happened_to(account)
    sql.execute("UPDATE webhooks_delivery SET attempts = '{}' WHERE id = %s", [delivery(hooks[0]).pk])
    write_down([outcome(parcel) for parcel in claimed()], timezone.now())
    assert [delivery(each).status for each in hooks] == ["pending", "delivered"]


def test_two_attempts_that_come_back_together_are_both_written_down(account, hook):
    registered = hook("https://hooks.example.com")
    happened_to(account)
    (first,) = claimed()
    resend(account.id, registered["webhook_id"], delivery(registered).delivery_id)
    (second,) = claimed()
    write_down([outcome(first, 500), outcome(second)], timezone.now())
    assert (logged(registered), delivery(registered).status) == ([(500, None), (200, None)], "delivered")


def test_an_attempt_that_is_written_down_again_is_there_once(account, hook):
    registered = hook("https://hooks.example.com")
    happened_to(account)
    (parcel,) = claimed()
    again = outcome(parcel, 503)
    write_down([again], timezone.now())
    following = delivery(registered).next_attempt_at
    write_down([again], timezone.now())
    assert (logged(registered), delivery(registered).next_attempt_at) == ([(503, None)], following)


def test_without_a_database_answers_are_kept_until_it_is_back(account, hook, receiver, refuse, of_another, sql):
    bad, (other, others, to) = receiver(POISON), of_another
    registered = hook(bad.url)
    happened_to(account, other)
    refuse(HANG_UP)
    with pytest.MonkeyPatch.context() as changed:
        changed.setitem(connection.settings_dict, "PORT", free_port())  # nobody takes another connection
        with pytest.raises(OperationalError):
            deliver()
    sql.execute(REFUSE_NO_MORE)
    assert wait_until(lambda: not delivering.here.outcomes.empty(), seconds=5)
    deliver(LEASE + timedelta(seconds=1))
    assert (logged(others), len(to.got)) == ([(200, None)], 1)
    assert (logged(registered), len(bad.got)) == ([(503, None)], 1)


def test_a_connection_that_breaks_loses_nothing_that_is_under_way(account, hook, keep_delivering, of_another, sql):
    other, others, to = of_another
    happened_to(other)
    assert wait_until(lambda: bool(to.got), seconds=5)
    sql.execute("SELECT pg_terminate_backend(%s)", [keep_delivering])
    assert wait_until(lambda: delivery(others).status == "delivered", seconds=5)
    assert (logged(others), len(to.got)) == ([(200, None)], 1)


def test_a_claim_that_fails_takes_nobody_a_place(account, hook, receiver, refuse, sql):
    registered = hook(receiver(200).url)
    happened_to(account)
    refuse(FAIL, OF_CLAIMS)
    for _ in range(10):
        with pytest.raises(DatabaseError):
            deliver()
    sql.execute(REFUSE_NO_MORE)
    assert (deliver(), delivery(registered).status) == (1, "delivered")
