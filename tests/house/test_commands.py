"""Django's command line as it is typed by hand: checks need no server, and the first migration needs no table."""

import json
import os
import subprocess
import sys

import pytest

from snapstate_project.dev.home import BASE_DIR
from tests.environment import administer


def manage(*arguments, **env):
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=BASE_DIR, env={**os.environ, **env}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["check", "spectacular"])
def test_a_command_that_needs_no_server_works_without_one(command):
    done = manage(command, DATABASE_URL="postgresql://me@127.0.0.1:1/none", REDIS_URL="redis://127.0.0.1:1/0")
    assert done.returncode == 0, done.stderr


def test_an_empty_database_is_migrated():
    url = os.environ["DATABASE_URL"]
    empty = url + "_empty"
    name = empty.rpartition("/")[2]
    administer(url, f"CREATE DATABASE {name} TEMPLATE template0")
    try:
        done = manage("migrate", DATABASE_URL=empty)
        assert done.returncode == 0, done.stderr
    finally:
        administer(url, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("ADMIN_SECRET", "insecure-admin-secret", "ADMIN_SECRET must be a secret of your own"),
        ("PORT", "http", "PORT must be a whole number"),
        ("DEBUG", "perhaps", "DEBUG must be true or false"),
        ("DATABASE_URL", "mysql://here", "DATABASE_URL must look like postgresql://"),
        ("DATABASE_URL", "postgresql://me:secret/word@here/name", "DATABASE_URL must look like postgresql://"),
        ("DATABASE_URL", "postgresql://me@here", "DATABASE_URL names no database"),
        ("REDIS_URL", "here:6379", "REDIS_URL must look like redis://"),
        ("CELERY_BROKER_URL", "here", "CELERY_BROKER_URL must look like redis://"),
        ("R2_ENDPOINT", "storage.example.com", "R2_ENDPOINT must look like https://"),
        (
            "R2_ACCESS_KEY_ID",
            "key",
            "R2_ACCOUNT_ID or R2_ENDPOINT, R2_ACCESS_KEY_ID, R2_SECRET_ACCESS_KEY: all or none",
        ),
        ("LOG_LEVEL", "loud", "LOG_LEVEL must be one of DEBUG, INFO"),
    ],
)
def test_a_wrong_value_stops_the_check_with_a_sentence(name, value, sentence):
    done = manage("check", **{name: value})
    assert done.returncode != 0
    assert sentence in done.stderr
    assert "secret/word" not in done.stderr


def test_erasures_are_in_the_log_at_every_level():
    told = "import structlog; [structlog.get_logger(n).info('erased') for n in ('checkpoints.erasing', 'checkpoints')]"
    done = manage("shell", "--no-imports", "-c", told, LOG_LEVEL="error")
    assert [json.loads(line)["logger"] for line in done.stderr.splitlines()] == ["checkpoints.erasing"]
