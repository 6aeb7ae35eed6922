"""The Celery application of worker and beat: `celery -A snapstate_project.celery`; tasks only call services."""

import logging
import os
import random
import signal
import threading
import time
from contextlib import suppress
from importlib import import_module
from typing import Any

import billiard
from celery import Celery, bootsteps
from celery.signals import task_postrun, task_prerun, worker_init, worker_shutting_down

from snapstate_project.common import stopping

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "snapstate_project.settings")

logger = logging.getLogger(__name__)
began_at: dict[str, float] = {}
"""Of the tasks under way in this process."""

app = Celery("snapstate")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def ticks() -> Any:
    """Not before Django is set up."""
    return import_module("snapstate_project.ticks")


class OwnClock(bootsteps.StartStopStep):
    """A thread of the worker's, begun after its pool has been forked, whether or not the broker can be reached.

    When beat is silent for two periods it does the work, a slice at a time, so that it can be stopped.
    """

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **options: Any) -> None:
        super().__init__(worker, **options)
        self.enabled = "celery" in worker.app.amqp.queues.consume_from  # not one that has another queue to itself
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, name="own-clock", daemon=True)

    def start(self, worker: Any) -> None:  # noqa: ARG002 (celery names it)
        self.thread.start()

    def stop(self, worker: Any) -> None:  # noqa: ARG002
        self.stopped.set()
        if self.thread.is_alive():
            self.thread.join(stopping.PATIENCE_SECONDS)

    def terminate(self, worker: Any) -> None:
        self.stop(worker)

    def run(self) -> None:
        since, spread = time.time(), random.uniform(0.2, 0.3)  # noqa: S311 (so that workers do not all look at once)
        while not self.stopped.wait(ticks().PERIOD_SECONDS * spread):
            try:
                ticks().work_if_overdue(time.time(), since)
            except Exception:  # Redis or Postgres may be away: the next turn sees
                logger.warning("the own clock was interrupted", exc_info=True)


@worker_init.connect
def keep_own_clock(**_: Any) -> None:
    app.steps["worker"].add(OwnClock)


@task_prerun.connect
def note_tick(task: Any, task_id: str = "", **_: Any) -> None:
    began_at[task_id] = time.time()
    with suppress(Exception):  # without Redis there is nothing to note it in, and no work to be done either
        ticks().note(task.name)


@task_postrun.connect
def note_run(task: Any, retval: Any = None, **_: Any) -> None:
    with suppress(Exception):  # as above
        error = retval if isinstance(retval, BaseException) else None
        ticks().note_run(task.name, seconds=time.time() - began_at.pop(task.request.id), error=error)


@worker_shutting_down.connect
def stop_within_ten_seconds(**_: Any) -> None:
    """Tasks under way are finished, or cut off as a crash would: each can be repeated."""
    stopping.begin(at_last=kill_children)


def kill_children() -> None:
    for child in billiard.active_children():
        with suppress(ProcessLookupError):
            os.kill(int(child.pid), signal.SIGKILL)  # type: ignore[arg-type]  # it was started
