"""What the tests of events do again and again."""

import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection, connections, transaction
from django.db.models import Max

from snapstate_project.events import recording, relay
from snapstate_project.events.catalogue import WorkflowErased
from snapstate_project.events.models import Event, SubscriberCursor


@contextmanager
def subscribers() -> Iterator[Callable[..., str]]:
    """A function that registers a subscriber (which writes down what it hears, unless given another handle)."""
    names: list[str] = []
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS heard (place bigserial, subscriber text, event_id bigint)")

    def register(handle: relay.Handle | None = None, *types: str) -> str:
        names.append(name := f"test-{uuid.uuid4().hex[:8]}")
        latest = Event.objects.aggregate(latest=Max("id"))["latest"] or 0
        SubscriberCursor.objects.create(name=name, position=latest)
        hear = handle or (lambda events: write_down(name, events))
        relay.subscribe(name, *(types or ["workflow.erased"]))(hear)
        return name

    yield register
    for name in names:
        relay.unsubscribe(name)
    SubscriberCursor.objects.filter(name__in=names).delete()


def write_down(name: str, events: list[Event]) -> None:
    with connection.cursor() as cursor:
        for event in events:
            cursor.execute("INSERT INTO heard (subscriber, event_id) VALUES (%s, %s)", [name, event.id])


def heard(name: str) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT event_id FROM heard WHERE subscriber = %s ORDER BY place", [name])
        return [row[0] for row in cursor.fetchall()]


def happen(count: int = 1) -> list[int]:
    """So many events that no room's subscriber minds; their ids."""
    account_id = uuid.uuid4()
    with transaction.atomic():
        for number in range(count):
            recording.record_event("workflow.erased", account_id, WorkflowErased(digest=f"{number:032x}", generation=2))
    return list(Event.objects.filter(account_id=account_id).order_by("id").values_list("id", flat=True))


def cursor_of(name: str) -> SubscriberCursor:
    return SubscriberCursor.objects.get(name=name)


def drain(name: str, *, limit: int = 10) -> None:
    while relay.relay_once(name, limit=limit):
        pass


def at_once(*works: Callable[[], object]) -> None:
    """Each in its own thread, with its own connection, all started together."""
    start = threading.Barrier(len(works))

    def run(work: Callable[[], object]) -> None:
        start.wait()
        try:
            work()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def racer(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.events.racer", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def session() -> "psycopg.Connection[Any]":
    """One more session, whose transaction the test ends itself."""
    return psycopg.connect(os.environ["DATABASE_URL"])
