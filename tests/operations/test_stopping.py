"""SIGTERM to each process while what it waits for hangs: it is gone within ten seconds, and nothing is lost."""

import os
import signal
import sys
import threading
import time

import httpx
import pytest

from checkpoints.models import ArchiveIntent, Workflow
from snapstate_project.celery import app
from snapstate_project.dev.process import wait_until
from snapstate_project.dev.server import free_port
from tests.checkpoints.steps import resume, save
from tests.operations.running import WEB, Running, is_ready

AT_MOST_SECONDS = 11.0  # ten, and one for a machine that does other things too
CELERY = [sys.executable, "-m", "celery", "-A", "snapstate_project"]
WORKER = [*CELERY, "worker", "--concurrency=1", "--loglevel=INFO"]

pytestmark = pytest.mark.slow


def test_an_idle_worker_goes_at_once():
    with Running("worker", WORKER) as worker:
        assert worker.says("ready.")
        assert worker.leave() < AT_MOST_SECONDS
        assert worker.process.ended_well


def test_a_worker_whose_task_hangs_in_the_archive_goes_in_time_and_loses_nothing(mortal_s3, api, intake, account):
    save(api, "wf", 1, headers={"X-Checkpoint-TTL": "1"})
    intake()
    mortal_s3.send(signal.SIGSTOP)
    with Running("worker", WORKER, **mortal_s3.environment) as worker:
        assert worker.says("ready.")
        app.send_task("checkpoints.archive_expiring")
        assert wait_until(ArchiveIntent.objects.filter(workflow__account=account).exists, seconds=60)
        assert worker.leave() < AT_MOST_SECONDS
        assert wait_until(lambda: worker.group() == [], seconds=1)
    mortal_s3.send(signal.SIGCONT)
    assert resume(api, "wf").json()["latest_checkpoint"]["step"] == 1


@pytest.mark.parametrize("broker", ["there", "away"])
def test_beat_goes_at_once(tmp_path, broker):
    url = os.environ["CELERY_BROKER_URL"] if broker == "there" else f"redis://127.0.0.1:{free_port()}/0"
    options = ["beat", "--loglevel=INFO", f"--schedule={tmp_path / 'beat'}", "--pidfile="]
    with Running("beat", [*CELERY, *options], CELERY_BROKER_URL=url) as beat:
        assert beat.says("beat: Starting...")
        assert beat.leave() < 5


def test_intake_goes_in_time_while_postgres_hangs(gated, api, intake, account):
    gate, url = gated
    with Running("intake", [sys.executable, "manage.py", "intake"], DATABASE_URL=url) as process:
        save(api, "wf", 1)
        assert wait_until(Workflow.objects.filter(account=account, head_step=1).exists, seconds=20)
        gate.flowing.clear()
        save(api, "wf", 2)
        time.sleep(0.3)
        assert process.leave() < AT_MOST_SECONDS
    gate.flowing.set()
    assert wait_until(lambda: taken(intake, account), seconds=20, step=0.5)


def taken(intake, account):
    """Not while the session of the one that was cut off still holds its locks."""
    intake()
    return Workflow.objects.filter(account=account, head_step=2).exists()


def test_web_goes_in_time_while_postgres_hangs(gated, key):
    gate, url = gated
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environment = {"DATABASE_URL": url, "PORT": str(port), "WEB_CONCURRENCY": "1"}
    with Running("web", WEB, **environment) as web:
        assert wait_until(lambda: is_ready(address), seconds=30)
        gate.flowing.clear()
        waiting = threading.Thread(target=ask, args=(f"{address}/workflows", key))
        waiting.start()
        time.sleep(0.3)
        assert web.leave() < AT_MOST_SECONDS
        waiting.join(5)


def ask(url, key):
    try:
        httpx.get(url, headers={"Authorization": f"Bearer {key}"}, timeout=20, trust_env=False)
    except httpx.HTTPError:
        return
