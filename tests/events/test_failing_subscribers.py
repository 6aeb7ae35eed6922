"""A subscriber that raises or waits holds back nobody, and stands at the event it fails at until it can go on."""

import threading
import uuid

import pytest
from django.db import connection, transaction

from billing.models import UsageRecord
from snapstate_project.dev.process import wait_until
from snapstate_project.events import relay, services
from snapstate_project.events.models import Event
from tests.events.steps import at_once, cursor_of, drain, happen, heard, session, write_down


class Picky:
    """Writes down what it hears, and then refuses whatever is in `refuses`."""

    name: str

    def __init__(self) -> None:
        self.refuses: set[int] = set()

    def hear(self, events: list[Event]) -> None:
        write_down(self.name, events)
        if self.refuses & {event.id for event in events}:
            raise ValueError("not this one \0 \ud83d")


@pytest.fixture
def picky(subscribe):
    subscriber = Picky()
    subscriber.name = subscribe(subscriber.hear)
    return subscriber


def test_the_cursor_comes_to_stand_at_the_culprit(picky):
    ids = happen(20)
    picky.refuses = {ids[7]}
    assert relay.relay_once(picky.name) == 7
    cursor = cursor_of(picky.name)
    assert (heard(picky.name), cursor.position, cursor.failing_event_id) == (ids[:7], ids[6], ids[7])


def test_what_was_raised_is_kept_for_operators_and_counted(picky):
    picky.refuses = set(happen(1))
    relay.relay_once(picky.name)
    since = cursor_of(picky.name).failing_since
    relay.relay_once(picky.name)
    cursor = cursor_of(picky.name)
    assert cursor.failing_error == "ValueError: not this one \\0 \\ud83d"
    assert (cursor.failures, cursor.failing_since) == (2, since)


def test_a_failure_at_the_very_first_event_is_kept_too(picky):
    picky.refuses = set(Event.objects.values_list("id", flat=True)) | set(happen(1))
    cursor_of(picky.name).delete()
    while relay.relay_once(picky.name):
        pass
    assert cursor_of(picky.name).failing_event_id in picky.refuses


def test_a_subscriber_that_recovers_goes_on_by_itself(picky):
    ids = happen(3)
    picky.refuses = {ids[0]}
    drain(picky.name)
    picky.refuses = set()
    drain(picky.name)
    cursor = cursor_of(picky.name)
    assert (heard(picky.name), cursor.failing_event_id, cursor.failing_error, cursor.failures) == (ids, None, "", 0)


def test_an_operator_skips_the_failing_event(picky):
    ids = happen(3)
    picky.refuses = {ids[1]}
    drain(picky.name)
    assert services.skip_event(picky.name, ids[1])
    drain(picky.name)
    assert heard(picky.name) == [ids[0], ids[2]]
    assert cursor_of(picky.name).failing_event_id is None


def test_only_the_event_it_fails_at_can_be_skipped(picky):
    ids = happen(3)
    picky.refuses = {ids[1]}
    drain(picky.name)
    assert not services.skip_event(picky.name, ids[2])
    assert services.skip_event(picky.name, ids[1])
    assert not services.skip_event(picky.name, ids[1])
    assert cursor_of(picky.name).position == ids[1]


def test_a_failing_subscriber_holds_back_nobody(picky, subscribe):
    sound, stop = subscribe(), threading.Event()
    picky.refuses = set(ids := happen(5))
    relays = threading.Thread(target=relay.run_relays, args=[stop])
    relays.start()
    wait_until(lambda: heard(sound) == ids, seconds=10)
    ids += happen(5)
    wait_until(lambda: heard(sound) == ids and cursor_of(picky.name).failures > 1, seconds=10)
    stop.set()
    relays.join(10)
    assert heard(picky.name) == []


def test_a_broken_promise_to_a_foreign_key_names_its_event(subscribe):
    def owe(events):
        UsageRecord.objects.create(account_id=uuid.uuid4(), month="2026-01-01")

    name, ids = subscribe(owe), happen(2)
    assert relay.relay_once(name) == 0
    cursor = cursor_of(name)
    assert cursor.failing_event_id == ids[0]
    assert cursor.failing_error.startswith("IntegrityError")


def test_a_subscriber_that_waits_for_a_lock_holds_back_nobody(subscribe):
    def hear(events):
        write_down(waiting, events)
        lock_heard(connection.cursor())

    waiting, sound = subscribe(hear), subscribe()
    ids = happen(5)
    with session() as holder:
        lock_heard(holder)
        waiter = threading.Thread(target=lambda: at_once(lambda: drain(waiting)))
        waiter.start()
        wait_until(lambda: is_held(waiting), seconds=10)
        drain(sound)
        assert (heard(sound), heard(waiting)) == (ids, [])
    waiter.join()
    assert heard(waiting) == ids


def test_a_wait_ends_by_itself(subscribe, monkeypatch):
    name, ids = subscribe(lambda _: lock_heard(connection.cursor())), happen(1)
    monkeypatch.setattr(relay, "TIMEOUT", "50ms")
    with session() as holder:
        lock_heard(holder)
        assert relay.relay_once(name) == 0
    cursor = cursor_of(name)
    assert cursor.failing_event_id == ids[0]
    assert "timeout" in cursor.failing_error


def test_the_time_limits_end_with_the_pass(subscribe):
    drain(subscribe())
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


def lock_heard(cursor):
    cursor.execute("SELECT pg_advisory_xact_lock(77)")


def is_held(name):
    """Whether a relay holds this cursor."""
    with transaction.atomic(), connection.cursor() as cursor:
        locked = "SELECT 1 FROM events_subscribercursor WHERE name = %s FOR UPDATE SKIP LOCKED"
        cursor.execute(locked, [name])
        return cursor.fetchone() is None
