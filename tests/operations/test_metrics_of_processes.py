"""/metrics of a real server with two workers: whoever answers shows the whole, whichever tiers are away."""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from snapstate_project.dev.process import wait_until
from snapstate_project.dev.server import LOOPBACK, Server, free_port
from tests.operations.steps import figure, scrape

REFUSED = {"route": "/usage", "method": "GET", "status": "401"}


class Web(Server):
    """gunicorn with two workers; up when it answers at all."""

    def __init__(self, **environment: str) -> None:
        port = free_port()
        self.url = f"http://{LOOPBACK}:{port}"
        settings = ["-c", "python:snapstate_project.gunicorn", "snapstate_project.asgi:application"]
        super().__init__("web", [sys.executable, "-m", "gunicorn", *settings])
        self.secret = secrets.token_hex(16)
        ours = {"PORT": str(port), "WEB_CONCURRENCY": "2", "ADMIN_SECRET": self.secret}
        self.env = {**os.environ, **ours, **environment}

    def answers(self) -> bool:
        try:
            return bool(httpx.get(f"{self.url}/openapi.json", timeout=20, trust_env=False).status_code)
        except httpx.HTTPError:
            return False

    def workers(self) -> list[int]:
        return [int(pid) for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]

    def refused(self) -> float:
        """How often somebody without a key was sent away, as the worker that happens to answer tells it."""
        headers = {"Authorization": f"Bearer {self.secret}"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=20, trust_env=False) as operator:
            return figure(scrape(operator), "http_requests_total", **REFUSED)


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    web = Web()
    web.start()
    yield web
    web.stop()


def test_every_worker_shows_what_all_have_counted(web):
    before = web.refused()
    for _ in range(40):  # each over a connection of its own, so that both workers get some
        httpx.get(f"{web.url}/usage", trust_env=False)
    assert wait_until(lambda: [web.refused() for _ in range(6)] == [before + 40] * 6, seconds=10, step=0.2)


def test_counts_do_not_fall_when_a_worker_is_killed(web):
    httpx.get(f"{web.url}/usage", trust_env=False)
    assert wait_until(lambda: len({web.refused() for _ in range(6)}) == 1, seconds=10, step=0.2)
    before, (first, second) = web.refused(), web.workers()
    os.kill(first, signal.SIGKILL)
    assert wait_until(lambda: len(set(web.workers()) - {first, second}) == 1, seconds=10)
    assert wait_until(web.answers, seconds=20)
    assert {web.refused() for _ in range(6)} == {before}


def test_the_folder_of_figures_goes_with_the_server_or_with_the_next(tmp_path):
    ended = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / f"snapstate-figures-{ended}-abandoned").mkdir()
    web = Web(TMPDIR=str(tmp_path))
    web.start()
    assert [name for name in tmp_path.iterdir() if "abandoned" in str(name)] == []
    assert wait_until(lambda: len(list(tmp_path.glob("snapstate-figures-*/*.figures"))) == 2, seconds=10)
    web.stop()
    assert list(tmp_path.iterdir()) == []


def test_a_tier_that_is_away_shows_as_down_and_the_rest_is_told():
    gone = f"postgresql://nobody:nothing@{LOOPBACK}:{free_port()}/nowhere"
    web = Web(DATABASE_URL=gone, REDIS_URL=f"redis://{LOOPBACK}:{free_port()}/0", WEB_CONCURRENCY="1")
    web.start()
    with httpx.Client(base_url=web.url, headers={"Authorization": f"Bearer {web.secret}"}, trust_env=False) as operator:
        figures = scrape(operator)
    web.stop()
    assert [figure(figures, "tier_up", tier=tier) for tier in ("redis", "postgres", "archive")] == [0, 0, 1]
    assert figure(figures, "build_info", version="0.1.0") == 1
