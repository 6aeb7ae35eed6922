"""Postgres takes connections and answers nothing: a few callers wait for it, all others are told at once."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from snapstate_project.common.threads import STANDSTILL_SECONDS, THREADS
from snapstate_project.dev.process import wait_until
from snapstate_project.dev.server import LOOPBACK, free_port
from tests.checkpoints.steps import resume, save
from tests.operations.running import WEB, Running, is_ready

AT_ONCE_SECONDS = 0.5

pytestmark = pytest.mark.slow


@pytest.fixture
def client(gated, key):
    """Of a web process whose Postgres is behind the gate; its key and the workflow `wf` are warm."""
    _, url = gated
    port = free_port()
    address = f"http://{LOOPBACK}:{port}"
    with Running("web", WEB, DATABASE_URL=url, PORT=str(port), WEB_CONCURRENCY="1") as web:
        assert wait_until(lambda: is_ready(address), seconds=30)
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=address, headers=headers, timeout=30, trust_env=False) as client:
            assert save(client, "wf", 1).status_code == 201
            yield client
            web.leave()


def timed(call):
    began = time.monotonic()
    return call().status_code, time.monotonic() - began


def test_others_do_not_wait_with_those_who_do(gated, client):
    gate, _ = gated
    gate.flowing.clear()
    with ThreadPoolExecutor(THREADS) as waiting:
        stuck = [waiting.submit(client.get, "/workflows") for _ in range(THREADS)]
        time.sleep(STANDSTILL_SECONDS + 0.5)
        lists = [timed(lambda: client.get("/workflows")) for _ in range(10)]
        saves = [timed(lambda step=step: save(client, "wf", step)) for step in range(2, 12)]
        saves += [timed(lambda: resume(client, "wf")) for _ in range(5)]
        assert {call.result().status_code for call in stuck} == {503}
    assert {status for status, _ in lists} == {503}
    assert {status for status, _ in saves} == {201, 200}
    assert max(seconds for _, seconds in lists + saves) < AT_ONCE_SECONDS
    gate.flowing.set()
    assert wait_until(lambda: client.get("/workflows").status_code == 200, seconds=10, step=0.1)
