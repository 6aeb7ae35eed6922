"""gunicorn as it is really started: SIGTERM stops it soon and cleanly, and loses nothing that is in flight."""

import os
import signal
import sys
import time
from collections.abc import Iterator

import httpx
import pytest

from snapstate_project.dev.process import wait_until
from snapstate_project.dev.server import LOOPBACK, Server, free_port
from tests.common.raw_http import connect, head, read_answer

SAVE = b'{"workflow_id": "at-shutdown", "step": 1, "state": {}}'


class Web(Server):
    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://{LOOPBACK}:{self.port}"
        settings = ["-c", "python:snapstate_project.gunicorn", "snapstate_project.asgi:application"]
        super().__init__("web", [sys.executable, "-m", "gunicorn", *settings])
        self.env = {**os.environ, "PORT": str(self.port), "WEB_CONCURRENCY": "1"}

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/ready", trust_env=False).status_code == 200
        except httpx.HTTPError:
            return False


@pytest.fixture
def web() -> Iterator[Web]:
    web = Web()
    web.start()
    yield web
    web.stop()


def test_a_save_in_flight_at_sigterm_is_finished(web, key):
    with connect(web.url) as connection:
        length = str(len(SAVE))
        connection.sendall(head("POST", "/checkpoints", key, Content_Length=length, Content_Type="application/json"))
        connection.sendall(SAVE[:10])
        assert httpx.get(f"{web.url}/ready", trust_env=False).status_code == 200
        os.kill(web.pid, signal.SIGTERM)
        wait_until(lambda: not web.answers(), seconds=5)
        connection.sendall(SAVE[10:])
        assert read_answer(connection).startswith(b"HTTP/1.1 201 ")
    wait_until(lambda: not web.running, seconds=5)
    assert web.ended_well


@pytest.mark.slow
def test_sigterm_waits_at_most_ten_seconds_for_a_client_that_stalls(web, key):
    with connect(web.url) as connection:
        connection.sendall(head("POST", "/checkpoints", key, Content_Length="1000", Content_Type="application/json"))
        assert web.answers()
        began = time.monotonic()
        os.kill(web.pid, signal.SIGTERM)
        wait_until(lambda: not web.running, seconds=12)
    assert time.monotonic() - began < 11


def test_a_default_secret_keeps_the_server_from_starting():
    web = Web()
    web.env = {**web.env, "ADMIN_SECRET": "", "DEBUG": "false"}
    web.spawn()
    wait_until(lambda: not web.running, seconds=20)
    assert not web.ended_well
    assert "ADMIN_SECRET must be a secret of your own" in "\n".join(web.last_lines)
