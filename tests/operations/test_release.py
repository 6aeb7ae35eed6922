"""Migrations are a release step: two at once are as good as one, and nothing is served before they are done."""

import os
import subprocess
import sys
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from snapstate_project.dev.process import Process, wait_until
from snapstate_project.dev.server import free_port
from snapstate_project.management.commands.migrate import RELEASE_LOCK
from tests.environment import administer

MIGRATE = [sys.executable, "manage.py", "migrate", "--skip-checks"]


@pytest.fixture
def empty():
    """The URL of a database without a table."""
    given, name = os.environ["DATABASE_URL"], f"snapstate_release_{os.getpid()}"
    administer(given, f"CREATE DATABASE {name} TEMPLATE template0")
    yield urlsplit(given)._replace(path=f"/{name}").geturl()
    administer(given, f"DROP DATABASE {name} WITH (FORCE)")


def migrating(url):
    environment = {**os.environ, "DATABASE_URL": url, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(MIGRATE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def applied(url):
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT app, name FROM django_migrations").fetchall()


def test_two_releases_at_once_are_as_good_as_one(empty):
    releases = [migrating(empty) for _ in range(2)]
    told = [release.communicate(timeout=60)[0] for release in releases]
    assert [release.returncode for release in releases] == [0, 0], told
    assert sum("No migrations to apply" in text for text in told) == 1, told
    assert len(set(applied(empty))) == len(applied(empty)) > 0


def test_a_release_waits_for_the_one_before_it(empty):
    with psycopg.connect(empty, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [RELEASE_LOCK])
        release = migrating(empty)
        assert release.stdout.readline().startswith("Another release is migrating")
        assert other.execute("SELECT to_regclass('django_migrations')").fetchone() == (None,)
    assert (release.communicate(timeout=60), release.returncode)[1] == 0
    assert applied(empty)


def test_what_is_pending_can_be_asked_meanwhile(empty):
    with psycopg.connect(empty, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [RELEASE_LOCK])
        environment = {**os.environ, "DATABASE_URL": empty}
        asked = subprocess.run([*MIGRATE, "--check"], env=environment, capture_output=True, timeout=60, check=False)
    assert asked.returncode == 1


def test_a_server_is_not_ready_before_the_release_and_is_after_it(empty):
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "-c", "python:snapstate_project.gunicorn"]
    web = Process("web", [*command, "snapstate_project.asgi:application"])
    web.env = {**os.environ, "DATABASE_URL": empty, "PORT": str(port), "WEB_CONCURRENCY": "1"}
    web.start()
    try:
        assert wait_until(lambda: ready(port) == 503, seconds=30)
        subprocess.run(MIGRATE, env=web.env, check=True, capture_output=True, timeout=60)
        assert wait_until(lambda: ready(port) == 200, seconds=15)
    finally:
        web.stop()


def ready(port):
    try:
        return httpx.get(f"http://127.0.0.1:{port}/ready", timeout=10, trust_env=False).status_code
    except httpx.TransportError:
        return 0
