"""Whatever races, dies or falls behind: a delivery for each event and endpoint, an attempt for each time it is due."""

import subprocess
import sys
import time
import uuid
from collections import Counter
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from snapstate_project.dev.process import wait_until
from snapstate_project.events.catalogue import QuotaExceeded, WorkflowErased, encode
from tests.events.steps import at_once, drain
from tests.webhooks.receiver import Answering
from tests.webhooks.steps import deliver, deliveries, delivery, happened, queue, saved
from webhooks.claims import DUE, LEASE
from webhooks.models import Delivery

BEHIND = 100_000


def racer():
    return subprocess.Popen([sys.executable, "-m", "tests.webhooks.racer"], stdout=subprocess.PIPE, text=True)


def steps_of(to):
    return Counter(got.json["data"]["step"] for got in to.got)


def test_racing_workers_send_each_attempt_once(account, hook, receiver):
    to = receiver(Answering(200, after=0.02))
    registered = hook(to.url)
    happened(account, *[saved(step=step) for step in range(200)])
    queue()
    racers = [racer() for _ in range(3)]
    sent = [int(each.communicate(timeout=100)[0].split()[1]) for each in racers]
    assert (sum(sent), steps_of(to)) == (200, Counter(range(200)))
    assert {(each.status, len(each.attempts)) for each in deliveries(registered)} == {("delivered", 1)}


def test_a_worker_killed_in_the_middle_leaves_nothing_behind(account, hook, receiver):
    to = receiver(Answering(200, after=2.0))
    registered = hook(to.url)
    happened(account, *[saved(step=step) for step in range(30)])
    queue()
    with racer() as victim:
        assert wait_until(lambda: len(to.got) >= 8, seconds=60)
        victim.kill()
    claimed, to.answers = steps_of(to), [Answering(200)]
    deliver()
    assert all(steps_of(to)[step] == 1 for step in claimed)  # they are left alone while the lease lasts
    deliver(LEASE + timedelta(seconds=5))
    assert set(steps_of(to)) == set(range(30))
    assert {each.status for each in deliveries(registered)} == {"delivered"}


def test_racing_relays_queue_each_event_once(account, hook):
    registered = [hook("https://hooks.example.com") for _ in range(3)]
    happened(account, *[saved(step=step) for step in range(300)])
    at_once(*[lambda: drain("webhooks", limit=20)] * 3)
    assert [len(deliveries(each)) for each in registered] == [300] * 3


def test_an_event_that_is_relayed_again_changes_nothing(account, hook, sql):
    registered = hook("https://hooks.example.com")
    happened(account, saved())
    queue()
    sql.execute("UPDATE events_subscribercursor SET position = position - 1 WHERE name = 'webhooks'")
    queue()
    assert delivery(registered).event_type == "checkpoint.saved"


@pytest.mark.slow
def test_a_relay_that_is_100_000_events_behind_catches_up(account, hook, sql):
    registered = hook("https://hooks.example.com")
    sql.execute(
        "INSERT INTO events_event (uid, type, account_id, at, erased, data) SELECT uuid_send(gen_random_uuid()),"
        " 'checkpoint.saved', %s, now(), false, %s FROM generate_series(1, %s)",
        [account.id, encode(saved()), BEHIND],
    )
    began = time.monotonic()
    queue()
    print(f"{BEHIND:,} events queued in {time.monotonic() - began:.1f} s")
    found = Delivery.objects.filter(endpoint__webhook_id=registered["webhook_id"])
    assert found.count() == found.values("event_uid").distinct().count() == BEHIND
    found.update(next_attempt_at=None)


def test_only_what_an_endpoint_asks_for_is_queued(account, hook, make_account):
    wants_saves, wants_quotas = hook("https://a.example.com"), hook("https://b.example.com", "quota.exceeded")
    quota = QuotaExceeded(meter="checkpoint_writes", threshold=80, month="2026-11", used=8_000, free=10_000)
    happened(account, quota, event_type="quota.exceeded")
    happened(account, saved(), erased=True)
    happened(make_account(), saved())
    queue()
    assert deliveries(wants_saves) == []
    assert '"data":{"meter":"checkpoint_writes","threshold":80' in delivery(wants_quotas).body


def test_what_happened_before_an_endpoint_was_there_is_not_for_it(account, hook):
    happened(account, saved())
    registered = hook("https://hooks.example.com")
    queue()
    assert deliveries(registered) == []


def test_an_erased_workflow_is_dropped_with_all_that_is_held_of_it(account, hook, receiver):
    to = receiver(200)
    registered, digest = hook(to.url), uuid.uuid4().hex
    happened(account, saved("gone", digest=digest), saved("kept"), saved("new", digest=digest, generation=2))
    queue()
    deliver()
    happened(account, saved("gone", 2, digest=digest))
    queue()
    happened(account, saved("gone", 3, digest=digest))
    happened(account, WorkflowErased(digest=digest, generation=2), event_type="workflow.erased")
    queue()
    assert deliver() == 0
    assert ["gone" in each.body for each in deliveries(registered)] == [False, False]


def test_another_accounts_erasure_drops_nothing(account, make_account, hook):
    registered = hook("https://hooks.example.com")
    happened(account, saved())
    happened(make_account(), WorkflowErased(digest="d" * 32, generation=9), event_type="workflow.erased")
    queue()
    assert delivery(registered).status == "pending"


def test_sent_again_while_under_way_it_is_sent_again(api, account, hook, receiver):
    to = receiver(Answering(200, after=1.0), Answering(200))
    registered = hook(to.url)
    happened(account, saved())
    queue()
    path = f"/webhooks/{registered['webhook_id']}/deliveries/{delivery(registered).delivery_id}/resend"
    at_once(deliver, lambda: (wait_until(lambda: bool(to.got), seconds=10), api.post(path)))
    assert delivery(registered).status == "pending"
    deliver()
    assert (len(to.got), delivery(registered).status, len(delivery(registered).attempts)) == (2, "delivered", 2)


def test_looking_for_what_is_due_takes_the_index_alone(account, hook):
    """However many are waiting, each endpoint costs a look or two."""
    for _ in range(3):
        hook("https://hooks.example.com")
    happened(account, *[saved(step=step) for step in range(500)])
    queue()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("ANALYZE webhooks_delivery")
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {DUE}", [timezone.now()])
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "deliveries_due" in plan
