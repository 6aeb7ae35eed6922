"""Periodic work of this room, and the loop of the worker that has the queue "webhooks" to itself."""

import os
import threading
from typing import Any

from celery import bootsteps, shared_task
from celery.signals import worker_init

from webhooks import delivering, services

QUEUE = "webhooks"
NICENESS = 5  # a delivery can wait for a save, where both share a machine


@shared_task(name="webhooks.deliver_due")
def deliver_due() -> int:
    return delivering.deliver_due()


@shared_task(name="webhooks.prune_deliveries")
def prune_deliveries() -> int:
    return services.prune_deliveries()


class Delivering(bootsteps.StartStopStep):
    """A worker of this queue alone needs no tick to wake it, nor a broker; one of all queues waits for beat's."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **options: Any) -> None:
        super().__init__(worker, **options)
        self.enabled = set(worker.app.amqp.queues.consume_from) == {QUEUE}
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=delivering.keep_delivering, args=[self.stopped], name="delivering")
        self.thread.daemon = True

    def start(self, worker: Any) -> None:  # noqa: ARG002 (celery names it)
        os.nice(NICENESS)  # of this thread, and so of those that it starts
        self.thread.start()

    def stop(self, worker: Any) -> None:  # noqa: ARG002
        self.stopped.set()
        if self.thread.is_alive():
            self.thread.join(delivering.STOPPING_SECONDS)

    def terminate(self, worker: Any) -> None:
        self.stop(worker)


@worker_init.connect
def keep_delivering(sender: Any, **_: Any) -> None:
    sender.app.steps["worker"].add(Delivering)
