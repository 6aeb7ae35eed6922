"""The way by hand: the processes as the README types them, with everything they need to know in `.env`."""

import os
import sys

import httpx

from snapstate_project.dev.home import BASE_DIR
from snapstate_project.dev.process import Process, wait_until
from snapstate_project.dev.server import LOOPBACK, free_port

SERVERS = ("REDIS_URL", "CELERY_BROKER_URL", "DATABASE_URL")


def answers(url):
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


def test_gunicorn_reads_its_port_and_its_servers_from_the_env_file(tmp_path):
    port = free_port()
    lines = [f"{name}={os.environ[name]}\n" for name in SERVERS]
    (tmp_path / ".env").write_text("".join([*lines, f"PORT={port}\n", "WEB_CONCURRENCY=1\n", "DEBUG=true\n"]))
    os.chdir(BASE_DIR)
    command = ["-m", "gunicorn", "-c", "python:snapstate_project.gunicorn", "snapstate_project.asgi:application"]
    web = Process("web", [sys.executable, *command])
    web.env = {"PATH": os.environ["PATH"], "SNAPSTATE_ENV_FILE": str(tmp_path / ".env")}
    web.start()
    try:
        assert wait_until(lambda: answers(f"http://{LOOPBACK}:{port}/ready"), seconds=30), web.last_lines
    finally:
        web.stop()
