"""Each event counts once, whoever is killed and however the batches fall; erased workflows leave only what happened."""

import itertools
import random
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from analytics import record
from analytics.models import WorkflowStats
from snapstate_project.events import relay
from snapstate_project.events.models import Event
from tests.analytics.recount import Life, recount
from tests.analytics.steps import count, erased, everything_of, happened, noon, read, resumed, save, saved
from tests.events.steps import at_once

BEGAN = datetime(2028, 2, 27, tzinfo=UTC)


@pytest.mark.parametrize(("seed", "limit"), [(1, 1), (2, 2), (3, 7), (4, 50), (5, 1_000), (6, 1_000)])
def test_a_life_at_random_is_counted_as_a_recount_counts_it(account, seed, limit):
    Life(account, seed, began=BEGAN).go_on(300)
    count(limit=limit)
    assert everything_of(account) == recount(account)


def test_racing_relays_count_as_a_recount_counts(make_account):
    accounts = [make_account() for _ in range(3)]
    lives = [Life(account, seed, began=BEGAN) for seed, account in enumerate(accounts)]
    for _ in range(40):
        random.choice(lives).go_on(5)
    at_once(*[lambda: count(limit=7)] * 4)
    count()
    assert [everything_of(account) for account in accounts] == [recount(account) for account in accounts]


def test_relays_killed_again_and_again_count_as_a_recount_counts(account):
    Life(account, 8, began=BEGAN).go_on(400)
    for turn in range(5):
        with killed_relay():
            for _ in range(turn):
                relay.relay_once("analytics", limit=2)
    count()
    assert everything_of(account) == recount(account)


@contextmanager
def killed_relay():
    """A relay in a process of its own, killed at whatever it is doing."""
    command = [sys.executable, "-m", "tests.analytics.relayer"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert next(iter(process.stdout or [])) == b"ready\n"
        yield
        process.kill()


def test_a_batch_that_fails_half_way_changes_nothing(account):
    Life(account, 9, began=BEGAN).go_on(50)
    events = list(Event.objects.filter(account_id=account.id).order_by("id"))
    with transaction.atomic():
        record.count(events)
        transaction.set_rollback(True)
    assert everything_of(account)["stats"] == []
    count()
    assert everything_of(account) == recount(account)


ORDERS = list(itertools.product((1, 2, 10), repeat=2))


@pytest.mark.parametrize(("first", "limit"), ORDERS)
def test_an_erase_in_the_middle_of_a_batch_drops_what_came_before_it(account, first, limit):
    at = noon("2026-05-01")
    happened(account, at, *(saved(account, "wf", step, status="failed", agent_id="a") for step in range(first)))
    happened(account, at, resumed(account, "wf"), erased(account, "wf"))
    happened(account, at, saved(account, "wf", 1, generation=2), resumed(account, "wf", generation=2))
    count(limit=limit)
    told = everything_of(account)
    assert told == recount(account)
    assert ([row[2:5] for row in told["stats"]], told["errors"], told["parts"]) == ([(2, "active", 1)], [], [])
    assert [row[2:] for row in told["days"]] == [(first + 1, 1, 2, first)]


def test_an_erased_workflow_is_gone_from_every_report(api, intake):
    save(api, "wf", 1, agent_id="a", status="failed", error={"type": "x", "message": "secret"})
    save(api, "kept", 1)
    intake()
    assert api.delete("/workflows/wf").status_code == 204
    intake()
    assert api.get("/analytics/workflows/wf").status_code == 404
    told = read(api, "overview")
    assert (told["total_workflows"], told["total_checkpoints"], told["top_agents"]) == (1, 1, [])
    assert (read(api, "failures")["total_failures"], read(api, "agents")["agents"]) == (0, [])
    assert told["daily"][-1] | {"date": ""} == {"date": "", "checkpoints": 2, "resumes": 0, "failures": 1}


@pytest.mark.parametrize("taken", list(itertools.product((True, False), repeat=2)))
def test_an_id_used_again_begins_anew(api, intake, taken):
    save(api, "wf", 1, agent_id="a")
    save(api, "wf", 2, agent_id="a")
    if taken[0]:
        intake()
    api.delete("/workflows/wf")
    if taken[1]:
        intake()
    save(api, "wf", 7, agent_id="b")
    intake()
    told = read(api, "workflows/wf")
    assert ([step["step"] for step in told["checkpoints"]], told["agents_involved"]) == ([7], ["b"])
    assert read(api, "overview")["total_checkpoints"] == 1


def test_what_was_erased_before_it_was_taken_is_ignored(account):
    happened(account, noon("2026-05-01"), saved(account, "wf", 1), resumed(account, "wf"), erased=True)
    count()
    assert everything_of(account) == {name: [] for name in everything_of(account)}


def test_a_new_generation_begins_anew_even_if_nobody_told_of_the_erase(account):
    happened(account, noon("2026-05-01"), saved(account, "wf", 1, agent_id="a"))
    happened(account, noon("2026-05-02"), saved(account, "wf", 5, generation=3))
    count()
    told = everything_of(account)
    assert ([row[2:5] for row in told["stats"]], told["parts"]) == ([(3, "active", 1)], [])
    assert [row[2:4] for row in told["days"]] == [(1, 0), (1, 1)]


def test_a_resume_of_a_workflow_that_is_not_known_counts_for_its_day_only(account):
    happened(account, noon("2026-05-01"), resumed(account, "unknown"))
    count()
    assert not WorkflowStats.objects.filter(account=account).exists()
    assert [row[2:] for row in everything_of(account)["days"]] == [(0, 0, 1, 0)]


def test_what_clients_do_is_counted_as_a_recount_counts_it(api, account, intake):
    for step in range(1, 6):
        etag = save(api, f"wf-{step % 2}", step, agent_id="a")["etag"]
        save(api, f"wf-{step % 2}", step, state={"n": -1}, agent_id="b", match=etag, status="completed")
        api.get(f"/workflows/wf-{step % 2}/resume", params={"agent_id": "a"})
        if step == 3:
            intake()
    intake()
    assert everything_of(account) == recount(account)
    assert read(api, "workflows/wf-1")["resumed_count"] == 3


def test_times_are_those_of_the_saves(api, account, intake):
    first = save(api, "wf", 1)
    intake()
    stats = WorkflowStats.objects.get(account=account)
    assert (
        timedelta(0) <= stats.first_checkpoint_at - datetime.fromisoformat(first["created_at"]) < timedelta(seconds=1)
    )
