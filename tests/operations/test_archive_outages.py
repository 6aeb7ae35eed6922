"""The archive refuses, hangs or is slow: saves and hot reads do not notice, what is archived is a 503, never a 404."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import override_settings

from checkpoints import archive, erasing, services
from checkpoints.ids import workflow_key
from checkpoints.models import ArchiveProblem, Erasure
from snapstate_project import health
from snapstate_project.common.circuit import FAILURES
from snapstate_project.dev.process import wait_until
from tests.checkpoints.steps import replay, resume, save, steps_of
from tests.checkpoints.test_moving_at_once import run_and_close
from tests.operations.s3 import archiving_to, slowed
from tests.operations.steps import expire_all, figure, scrape

AT_ONCE_SECONDS = 0.5  # on a machine that does other things too; without a circuit it is seconds
SOON = {"X-Checkpoint-TTL": "60"}


@pytest.fixture
def archived(mortal_s3, api, intake):
    """`cold` stands in the endpoint only, `warm` in Redis and Postgres."""
    for step in (1, 2):
        save(api, "cold", step, headers=SOON)
    intake()
    expire_all()
    intake()
    save(api, "warm", 1)
    archive.cache = archive.SegmentCache(archive.CACHE_BYTES)
    return api


def refusing(server):
    server.kill()


def frozen(server):
    os.kill(server.pid, signal.SIGSTOP)


def well_again(server, how):
    if how is refusing:
        server.start()
    else:
        os.kill(server.pid, signal.SIGCONT)


@pytest.fixture(params=[refusing, frozen])
def how(request, mortal_s3, archived):
    """In which way the archive is away; frozen, its reads are given up after half a second."""
    with override_settings(ARCHIVE_TIMEOUT_SECONDS=0.5):
        request.param(mortal_s3)
        yield request.param
        if request.param is frozen:
            os.kill(mortal_s3.pid, signal.SIGCONT)


def timed(call):
    began = time.monotonic()
    return call(), time.monotonic() - began


def test_an_archived_workflow_is_unavailable_and_never_missing(how, archived):
    for answer in (resume(archived, "cold"), replay(archived, "cold"), archived.get("/checkpoints/cp_cold_001")):
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert resume(archived, "nobody").status_code == 404


def test_saves_and_hot_reads_do_not_notice(how, archived):
    with ThreadPoolExecutor(8) as others:
        asking = [others.submit(archived.get, "/workflows/cold/resume") for _ in range(8)]
        answers = [timed(lambda step=step: save(archived, "warm", step)) for step in range(2, 12)]
        answers += [timed(lambda: resume(archived, "warm")) for _ in range(10)]
        refused = {call.result().status_code for call in asking}
    assert {answer.status_code for answer, _ in answers} == {201, 200}
    assert max(seconds for _, seconds in answers) < AT_ONCE_SECONDS
    assert refused == {503}


def test_a_save_above_an_archived_head_needs_no_archive(how, archived, account):
    services.recent.forget(workflow_key(account.pk, "cold"))  # as in a process that has not saved it
    answer = save(archived, "cold", 3)
    assert (answer.status_code, answer.json()["diff_from_previous"]) == (201, None)
    assert resume(archived, "cold").json()["latest_checkpoint"]["step"] == 3


def test_the_calls_after_the_first_few_are_refused_at_once(how, archived):
    for _ in range(FAILURES):
        resume(archived, "cold")
    assert archive.threads.circuit.is_open
    answers = [timed(lambda: resume(archived, "cold")) for _ in range(5)]
    assert {answer.status_code for answer, _ in answers} == {503}
    assert sorted(seconds for _, seconds in answers)[-2] < AT_ONCE_SECONDS  # one of them may have been the try


def test_it_is_back_without_a_restart(how, archived, mortal_s3):
    for _ in range(FAILURES):
        resume(archived, "cold")
    well_again(mortal_s3, how)
    assert wait_until(lambda: resume(archived, "cold").status_code == 200, seconds=15, step=0.1)
    assert steps_of(replay(archived, "cold")) == [1, 2]


def test_health_and_figures_say_so(how, archived, operator_api):
    health.archive.forget()
    answer = archived.get("/health")
    assert (answer.status_code, answer.json()["status"], answer.json()["r2"]) == (200, "degraded", "disconnected")
    assert figure(scrape(operator_api), "tier_up", tier="archive") == 0
    health.archive.forget()


def test_an_erase_answers_and_its_objects_follow(how, archived, mortal_s3, account):
    assert archived.delete("/workflows/cold").status_code == 204
    assert resume(archived, "cold").status_code == 404
    assert mortal_s3.objects()
    well_again(mortal_s3, how)
    erasing.finish_erasures()
    assert mortal_s3.objects() == []


def test_erasing_from_redis_waits_for_no_frozen_archive(archived, mortal_s3, account):
    for workflow_id in ("cold", "warm"):
        erasing._promise(workflow_key(account.pk, workflow_id), None)
    frozen(mortal_s3)
    in_a_thread = threading.Thread(target=run_and_close, args=(erasing.finish_erasures,))
    in_a_thread.start()
    open_ones = Erasure.objects.filter(account_id=account.pk, rows_erased_at=None)
    try:
        assert wait_until(lambda: not open_ones.exists(), seconds=5, step=0.1)
    finally:
        well_again(mortal_s3, frozen)
        in_a_thread.join()
    assert mortal_s3.objects() == []


def test_the_log_says_why_it_is_away(archived, mortal_s3, caplog):
    mortal_s3.kill()
    assert resume(archived, "cold").status_code == 503
    assert "service unavailable: The archive cannot be reached" in caplog.text
    assert "(EndpointConnectionError: " in caplog.text


def test_a_pass_sets_aside_what_it_could_not_write_and_ends(mortal_s3, api, intake, account):
    save(api, "wf", 1, headers=SOON)
    intake()
    mortal_s3.kill()
    expire_all()
    problem = ArchiveProblem.objects.get(workflow__account=account)
    assert "EndpointConnectionError" in problem.reason
    assert resume(api, "wf").json()["source"] == "hot"


def test_a_slow_archive_is_waited_for(archived, mortal_s3, monkeypatch):
    with slowed(mortal_s3, seconds=0.3) as port:
        slow = {**mortal_s3.environment, "R2_ENDPOINT": f"http://127.0.0.1:{port}"}
        with archiving_to(monkeypatch, **slow):
            answer, seconds = timed(lambda: resume(archived, "cold"))
    assert (answer.status_code, answer.json()["source"]) == (200, "archive")
    assert seconds >= 0.3
