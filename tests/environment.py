"""The servers of a test run, and the environment that points Django at them before a setting is read.

One Postgres serves the whole run and one migrated database is the template; every worker of pytest-xdist has a
database and a Valkey of its own. A DATABASE_URL or REDIS_URL from outside is used instead when it is given.
"""

import contextlib
import os
import secrets
import shutil
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import django
import psycopg
from django.core.management import call_command
from django.db import connections
from psycopg import sql

from snapstate_project.dev.postgres import Postgres
from snapstate_project.dev.valkey import Valkey

STACK = contextlib.ExitStack()
# Set by the controlling process, inherited by the workers.
GIVEN_REDIS = "SNAPSTATE_TEST_GIVEN_REDIS"
TEMPLATE_URL = "SNAPSTATE_TEST_TEMPLATE_URL"


def start(worker: str = "") -> None:
    """Once in every process of the run; `worker` is "" for the only or the controlling one, else gw0, gw1…"""
    try:
        home = open_folder()
        set_secrets()
        os.environ["SNAPSTATE_HOME"] = str(home / "home")
        use_redis(home, worker)
        if worker:
            use_database(os.environ[TEMPLATE_URL], worker)
        else:
            make_template(home)
        django.setup()
        if not worker:
            call_command("migrate", verbosity=0)
            connections.close_all()  # a template can be copied only while nobody is in it
    except BaseException:
        STACK.close()
        raise


def stop() -> None:
    connections.close_all()
    STACK.close()


def open_folder() -> Path:
    """A temporary folder that `nobody` can pass through, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="snapstate-tests-", dir="/tmp"))
    folder.chmod(0o711)
    STACK.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder


def set_secrets() -> None:
    """Never those of a developer's `.env`."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "snapstate_project.settings"
    os.environ["SNAPSTATE_ENV_FILE"] = os.devnull
    os.environ["DEBUG"] = "false"
    os.environ["ADMIN_SECRET"] = secrets.token_hex(16)
    os.environ["DJANGO_SECRET_KEY"] = secrets.token_hex(32)


def use_redis(home: Path, worker: str) -> None:
    given = os.environ.setdefault(GIVEN_REDIS, os.environ.get("REDIS_URL", ""))
    if not given:
        server = Valkey("valkey", home / "valkey")
        STACK.callback(server.stop)
        server.start()
        given = server.url
    elif worker:
        given = urlsplit(given)._replace(path=f"/{1 + int(worker.removeprefix('gw'))}").geturl()
    os.environ["REDIS_URL"] = os.environ["CELERY_BROKER_URL"] = given


def make_template(home: Path) -> None:
    url = os.environ.get("DATABASE_URL", "")
    if not url:
        server = Postgres(home, fsync=False)
        STACK.callback(server.stop)
        server.start()
        url = server.url
        let_in_quickly(url, server.password)
    use_database(url, "template", template="template0")
    os.environ[TEMPLATE_URL] = os.environ["DATABASE_URL"]


def let_in_quickly(url: str, password: str) -> None:
    """4,096 rounds of a hash at each connection are against guessing: nobody guesses here, and tests connect a lot."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET scram_iterations = 1")
        role, given = sql.Identifier(connection.info.user), sql.Literal(password)
        connection.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(role, given))


def use_database(url: str, name: str, *, template: str = "") -> None:
    """A database of our own on that server, dropped at the end: the given one is left as it is."""
    template = template or urlsplit(url).path.lstrip("/")
    name = f"snapstate_tests_{os.getpid()}_{name}"
    administer(url, f"CREATE DATABASE {name} TEMPLATE {template}")
    STACK.callback(administer, url, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    os.environ["DATABASE_URL"] = urlsplit(url)._replace(path=f"/{name}").geturl()


def administer(url: str, statement: str) -> None:
    with psycopg.connect(urlsplit(url)._replace(path="/postgres").geturl(), autocommit=True) as connection:
        connection.execute(statement.encode())
