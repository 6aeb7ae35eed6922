"""The worker of the queue "webhooks" as it runs for real: woken by itself, with or without broker and beat."""

import os
import signal
import sys
import time

import pytest

from snapstate_project.celery import app
from snapstate_project.dev.process import Process, wait_until
from snapstate_project.dev.server import free_port
from tests.webhooks.receiver import Answering
from tests.webhooks.steps import deliveries, delivery, happened, queue, saved

WORKER = [sys.executable, "-m", "celery", "-A", "snapstate_project", "worker", "--loglevel=INFO"]
ALONE = [*WORKER, "-Q", "webhooks", "--pool=threads", "--concurrency=1"]


@pytest.fixture
def worker():
    """Starts a worker, and ends it after the test."""
    started = []

    def start(command, **environment):
        started.append(Process("worker", command))
        started[-1].env = {**os.environ, "WEBHOOK_PRIVATE_NETWORKS": "127.0.0.0/8", **environment}
        started[-1].start()
        return started[-1]

    yield start
    for process in started:
        process.sweep()


def test_it_delivers_within_a_second_without_a_broker(worker, account, hook, receiver):
    to = receiver(200)
    registered = hook(to.url)
    process = worker(ALONE, CELERY_BROKER_URL=f"redis://127.0.0.1:{free_port()}/0")
    happened(account, saved())
    queue()
    assert wait_until(lambda: bool(to.got), seconds=40), list(process.last_lines)
    began = time.time()
    happened(account, saved(step=2))
    queue()
    assert wait_until(lambda: len(to.got) == 2, seconds=10)
    assert to.got[1].at - began < 3
    assert wait_until(lambda: {each.status for each in deliveries(registered)} == {"delivered"}, seconds=5)


def test_a_worker_of_all_queues_delivers_when_it_is_told(worker, account, hook, receiver):
    to = receiver(200)
    hook(to.url)
    happened(account, saved())
    queue()
    worker([*WORKER, "--concurrency=1"])
    app.send_task("webhooks.deliver_due")
    assert wait_until(lambda: bool(to.got), seconds=40)


def test_tasks_go_to_one_queue_only(redis):
    with app.connection_for_write() as connection:
        for each in app.amqp.queues.values():
            each(connection).declare()
            each(connection).purge()
        for task in ("webhooks.prune_deliveries", "events.prune_events", "checkpoints.prune"):
            app.send_task(task)
        lengths = {name: each(connection).purge() for name, each in app.amqp.queues.items()}
    assert lengths == {"celery": 2, "webhooks": 1}


def test_told_to_stop_it_finishes_what_is_under_way(worker, account, hook, receiver):
    to = receiver(Answering(200, after=3.0))
    registered = hook(to.url)
    happened(account, saved())
    queue()
    process = worker(ALONE)
    assert wait_until(lambda: bool(to.got), seconds=40), list(process.last_lines)
    process.send(signal.SIGTERM)
    assert wait_until(lambda: not process.running, seconds=11)
    assert delivery(registered).status == "delivered"


def test_what_never_ends_does_not_keep_it_from_stopping(worker, account, hook, receiver):
    to = receiver(Answering(200, after=60.0))
    registered = hook(to.url)
    happened(account, saved())
    queue()
    process = worker(ALONE)
    assert wait_until(lambda: bool(to.got), seconds=40), list(process.last_lines)
    process.send(signal.SIGTERM)
    assert wait_until(lambda: not process.running, seconds=12)
    assert delivery(registered).status == "pending"
