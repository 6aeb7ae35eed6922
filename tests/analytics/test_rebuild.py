"""`manage.py rebuild_analytics`: the days whose events are all there are counted again; older ones stay as they are."""

import io
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import connection

from analytics import record, services
from analytics.models import (
    AgentDay,
    DailyActivity,
    WorkflowAgent,
    WorkflowError,
    WorkflowResumes,
    WorkflowStats,
    WorkflowStep,
)
from snapstate_project.events import relay
from snapstate_project.events.models import Event, SubscriberCursor
from snapstate_project.events.services import prune_events
from tests.analytics.recount import Life, recount
from tests.analytics.steps import count, erased, everything_of, happened, read, resumed, saved
from tests.events.steps import at_once

NOW = datetime.now(UTC)
SINCE = services.first_whole_day(NOW)
FORTY_DAYS_AGO = NOW - timedelta(days=40)
MINUTES = 2 * 40 * 24 * 60 / 500  # between two of 500 events, at most


@pytest.fixture
def lived(make_account):
    """Accounts with forty days behind them, the first ten of which have no events any more."""
    accounts = [make_account() for _ in range(2)]
    for seed, account in enumerate(accounts):
        Life(account, seed, began=FORTY_DAYS_AGO, minutes=MINUTES).go_on(500)
    count()
    assert [everything_of(account) for account in accounts] == [recount(account) for account in accounts]
    prune_events(now=NOW)
    return accounts


def everything(accounts):
    return [everything_of(account) for account in accounts]


def spoil(account, since=SINCE):
    """What a fault could do to the days that can be counted again."""
    stats = WorkflowStats.objects.filter(account=account, last_checkpoint_at__date__gte=since)
    WorkflowStep.objects.filter(stats__in=stats, created_at__date__gt=since).update(size_bytes=1, agent_id="wrong")
    WorkflowError.objects.filter(account=account, created_at__date__gte=since).delete()
    WorkflowResumes.objects.filter(stats__in=stats, day__gte=since).update(count=99)
    DailyActivity.objects.filter(account=account, day__gte=since).update(checkpoints=0, steps=7)
    AgentDay.objects.filter(account=account, day__gte=since).delete()
    WorkflowAgent.objects.filter(stats__in=stats).update(steps=0)
    stats.update(total_steps=77, total_size_bytes=0, status="failed")


def test_it_agrees_with_what_was_counted(lived):
    before = everything(lived)
    assert services.rebuild(now=NOW) == SINCE
    assert everything(lived) == before


def test_it_mends_what_was_spoilt(lived):
    before = everything(lived)
    spoil(lived[0])
    assert everything(lived) != before
    services.rebuild(now=NOW)
    assert everything(lived) == before


def test_it_counts_from_nothing(account):
    Life(account, 3, began=NOW - timedelta(days=20), minutes=60).go_on(300)
    count()
    ids = list(WorkflowStats.objects.filter(account=account).values_list("pk", flat=True))
    with connection.cursor() as cursor:
        record.delete(cursor, ids)
    DailyActivity.objects.filter(account=account).delete()
    AgentDay.objects.filter(account=account).delete()
    services.rebuild(now=NOW)
    assert everything_of(account) == recount(account)


def test_it_leaves_older_days_as_they_are(lived):
    account, long_ago = lived[0], SINCE - timedelta(days=1)
    DailyActivity.objects.filter(account=account, day__lt=SINCE).update(checkpoints=123, steps=45)
    DailyActivity.objects.create(account=account, day=long_ago - timedelta(days=900), **dict.fromkeys(DAY, 6))
    WorkflowStats.objects.create(account=account, digest=b"old", generation=1, workflow_id="old", **OLD)
    before = everything(lived)
    spoil(account)
    services.rebuild(now=NOW)
    assert everything(lived) == before


DAY = ("checkpoints", "steps", "resumes", "failures")
OLD = {"status": "active", "total_steps": 5, "total_size_bytes": 5, "first_checkpoint_at": FORTY_DAYS_AGO,
       "last_checkpoint_at": FORTY_DAYS_AGO}  # fmt: skip


def test_a_workflow_replaced_and_erased_over_the_edge_is_as_it_was(account):
    old, new = NOW - timedelta(days=35), NOW - timedelta(days=3)
    for name in ("kept", "erased"):
        happened(account, old, saved(account, name, 1, agent_id="a", error_type="x"), saved(account, name, 2))
        happened(account, old, resumed(account, name))
        happened(account, new, saved(account, name, 2, agent_id="b", replaced=True, size_bytes=3))
    happened(account, new, erased(account, "erased"), saved(account, "erased", 9, generation=2))
    count()
    assert (before := everything_of(account)) == recount(account)
    prune_events(now=NOW)
    services.rebuild(now=NOW)
    assert everything_of(account) == before


def test_relays_that_go_on_meanwhile_lose_nothing(lived):
    stop = threading.Event()
    at_once(*[lambda: relay_until(stop)] * 2, lambda: live_and_rebuild(lived, stop))
    count()
    before = everything(lived)
    services.rebuild(now=NOW)
    assert everything(lived) == before
    for account, told in zip(lived, before, strict=True):
        assert {name: told[name] for name in FACTS} == {name: recount(account)[name] for name in FACTS}


FACTS = ("stats", "steps", "errors", "resumes", "parts")


def relay_until(stop):
    while not stop.is_set():
        relay.relay_once("analytics", limit=5)


def live_and_rebuild(accounts, stop):
    """In generations of their own: the events that would tell of those before are gone."""
    for seed, account in enumerate(accounts, 50):
        life = Life(account, seed, began=NOW - timedelta(days=2), minutes=5)
        life.generations.update(dict.fromkeys(["a", "b/c", "研究", "d"], 90))
        life.go_on(100)
        services.rebuild(now=NOW)
    stop.set()


def test_events_that_no_relay_has_passed_are_left_to_it(account):
    happened(account, NOW - timedelta(hours=2), saved(account, "wf", 1))
    count()
    happened(account, NOW - timedelta(hours=1), saved(account, "wf", 2))
    services.rebuild(now=NOW)
    assert [row[4] for row in everything_of(account)["stats"]] == [1]
    count()
    assert everything_of(account) == recount(account)


def test_the_cursor_stays_where_it_stands(account):
    happened(account, NOW, saved(account, "wf", 1))
    count()
    position = SubscriberCursor.objects.get(name="analytics").position
    services.rebuild(now=NOW)
    assert SubscriberCursor.objects.get(name="analytics").position == position


def test_the_command_shows_how_far_it_is(account, capsys, api):
    happened(account, NOW - timedelta(hours=2), saved(account, "wf", 1))
    count()
    said = io.StringIO()
    call_command("rebuild_analytics", stdout=said)
    total = Event.objects.filter(id__lte=SubscriberCursor.objects.get(name="analytics").position).count()
    assert f"{'█' * 40} 100%  {total:,} of {total:,} events" in capsys.readouterr().err
    assert said.getvalue() == f"Counted again: {services.first_whole_day(datetime.now(UTC))} and every day after it.\n"
    assert read(api, "workflows/wf")["total_steps"] == 1
