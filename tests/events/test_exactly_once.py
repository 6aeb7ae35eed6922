"""Each event reaches each subscriber exactly once, whoever races and whoever dies."""

import threading

import pytest
from django.db import transaction

from snapstate_project.dev.process import wait_until
from snapstate_project.events import relay
from tests.events.steps import at_once, cursor_of, drain, happen, heard, racer, session


def test_a_subscriber_hears_every_event_once_in_order(subscribe):
    name = subscribe()
    ids = happen(25)
    drain(name)
    assert heard(name) == ids


def test_a_pass_takes_at_most_what_it_is_told(subscribe):
    name = subscribe()
    ids = happen(25)
    assert relay.relay_once(name, limit=10) == 10
    assert heard(name) == ids[:10]


def test_events_of_other_types_are_passed_over(subscribe):
    name = subscribe(None, "workflow.resumed")
    ids = happen(3)
    assert relay.relay_once(name) == 3
    assert (heard(name), cursor_of(name).position) == ([], ids[-1])


def test_a_new_subscriber_hears_what_happened_before_it_came(subscribe):
    ids = happen(3)
    name = subscribe()
    cursor_of(name).delete()
    drain(name, limit=1_000)
    assert heard(name)[-3:] == ids


@pytest.mark.parametrize("racers", [2, 8])
def test_racing_threads_hear_every_event_once(subscribe, racers):
    name = subscribe()
    ids = happen(300)
    at_once(*[lambda: drain(name)] * racers)
    drain(name)
    assert heard(name) == ids


def test_racing_processes_hear_every_event_once(subscribe):
    name = subscribe()
    ids = happen(300)
    racers = [racer(name) for _ in range(3)]
    drain(name, limit=7)
    assert [process.communicate(timeout=30)[0] for process in racers] == ["", "", ""]
    drain(name)
    assert heard(name) == ids


def test_a_relay_killed_in_the_middle_of_a_batch_leaves_nothing_half_done(subscribe):
    name = subscribe()
    ids = happen(25)
    with racer(name, "dies") as dying:
        assert next(iter(dying.stdout or [])) == "middle\n"
        assert relay.relay_once(name) == 0
        dying.kill()
    wait_until(lambda: relay.relay_once(name, limit=10) > 0, seconds=10)
    drain(name)
    assert heard(name) == ids


def test_an_event_becomes_visible_only_after_those_with_lower_ids(subscribe):
    name = subscribe()
    late = threading.Thread(target=lambda: at_once(lambda: happen(1)))
    with transaction.atomic():
        first = happen(1)
        late.start()
        with session() as other:
            wait_until(lambda: waits_for_the_event_lock(other), seconds=10)
            assert other.execute("SELECT count(*) FROM events_event WHERE id >= %s", first).fetchone() == (0,)
    late.join()
    drain(name)
    assert (heard(name)[0], len(heard(name))) == (first[0], 2)


def waits_for_the_event_lock(session):
    waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = "
    return session.execute(waiting + "(SELECT oid FROM pg_database WHERE datname = current_database())").fetchone()


def test_threads_relay_until_they_are_stopped(subscribe):
    name, stop = subscribe(), threading.Event()
    relays = threading.Thread(target=relay.run_relays, args=[stop])
    relays.start()
    ids = happen(25)
    wait_until(lambda: heard(name) == ids, seconds=10)
    stop.set()
    relays.join(10)
    assert not [thread for thread in threading.enumerate() if thread.name == f"relay-{name}"]
