"""The worker's own clock: silent while beat ticks, and at work when nobody else is, with no broker at all."""

import os
import sys
import time
import uuid

import pytest
from django.core.cache import cache

from checkpoints.models import Workflow
from snapstate_project import ticks
from snapstate_project.celery import app
from snapstate_project.dev.process import Process, wait_until
from snapstate_project.dev.server import free_port
from tests.checkpoints.steps import save
from tests.operations.steps import figure, scrape

NOW = 1_800_000_000.0
BOTH = ["checkpoints.archive_expiring", "checkpoints.finish_erasures"]
IMPATIENT = """
import sys
from celery.__main__ import main
import django; django.setup()
from snapstate_project import ticks
ticks.PERIOD_SECONDS = 0.4
sys.exit(main())
"""


@pytest.fixture(autouse=True)
def no_ticks():
    cache.delete_many([ticks.key(task) for task in ticks.WATCHED])


def test_after_two_periods_of_silence_the_work_is_overdue():
    for task in BOTH:
        ticks.note(task, now=NOW)
    assert ticks.overdue(NOW + 119, since=0) == []
    assert ticks.overdue(NOW + 121, since=0) == BOTH


def test_each_kind_of_work_has_its_own_tick():
    ticks.note(BOTH[0], now=NOW)
    assert ticks.overdue(NOW + 10, since=0) == BOTH[1:]


def test_a_worker_that_has_only_just_begun_waits_too():
    assert ticks.overdue(NOW, since=NOW - 100) == []
    assert ticks.overdue(NOW, since=NOW - 121) == BOTH


def test_other_tasks_are_no_ticks():
    ticks.note("events.prune_events", now=NOW)
    assert cache.get(ticks.key("events.prune_events")) is None


def test_whatever_is_watched_is_in_beats_schedule_at_that_period():
    schedule = {entry["task"]: entry["schedule"] for entry in app.conf.beat_schedule.values()}
    assert {schedule[task] for task in ticks.WATCHED} == {ticks.PERIOD_SECONDS}


def test_what_is_overdue_is_done(api, account, intake):
    save(api, "wf", 1, headers={"X-Checkpoint-TTL": "1"})
    intake()
    due = Workflow.objects.filter(account=account, archived_sequence=0)
    assert wait_until(lambda: ticks.work_if_overdue(time.time(), since=0) == BOTH and not due.exists(), seconds=5)


def test_when_beat_last_ticked_is_shown(operator_api):
    ticks.note(BOTH[0], now=NOW)
    figures = scrape(operator_api)
    assert [figure(figures, "tick_timestamp_seconds", task=task) for task in BOTH] == [NOW, 0]


def test_a_worker_without_beat_and_without_a_broker_does_the_work(api, account, intake):
    save(api, f"wf-{uuid.uuid4().hex}", 1, headers={"X-Checkpoint-TTL": "1"})
    intake()
    options = ["-A", "snapstate_project", "worker", "--concurrency=1", "--loglevel=INFO"]
    worker = Process("worker", [sys.executable, "-c", IMPATIENT, *options])
    worker.env = {**os.environ, "CELERY_BROKER_URL": f"redis://127.0.0.1:{free_port()}/0", "PYTHONUNBUFFERED": "1"}
    worker.start()
    try:
        gone = Workflow.objects.filter(account=account, evicted_at__isnull=False)
        assert wait_until(gone.exists, seconds=30, step=0.2), list(worker.last_lines)
        began = time.monotonic()
    finally:
        worker.stop()
    assert time.monotonic() - began < 10
