"""What keeps `make up` from starting is a sentence that says what to do, never a traceback."""

import os
import shutil
import socket
from pathlib import Path

import pytest

from snapstate_project.dev.errors import CannotStart
from snapstate_project.dev.postgres import check_loads
from tests.dev.steps import Up

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root's Postgres runs as another user")


def refusal(home, **env):
    """What one says that cannot start."""
    up = Up(home, **env)
    assert up.fail() == 1
    assert "Traceback" not in up.said
    return up.said


def test_a_port_that_somebody_else_has(tmp_home):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refusal(tmp_home(), PORT=str(port))
    assert f"Port {port} cannot be used (Address already in use)" in said
    assert f"PORT={port + 1} make up" in said


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1", "8000.5"])
def test_a_port_that_is_none(tmp_home, port):
    assert f"PORT must be a number from 1 to 65535, not '{port}'" in refusal(tmp_home(), PORT=port)


def test_a_postgres_folder_that_was_never_finished(tmp_home):
    home = tmp_home()
    (home / "postgres" / "base").mkdir(parents=True)
    said = refusal(home)
    assert f"The data folder {home}/postgres is incomplete" in said
    assert "set SNAPSTATE_HOME to another folder" in said


def test_a_library_that_postgres_needs_and_the_system_lacks(tmp_path):
    """What the loader says of it, said by a stand-in: this system has the library."""
    program = tmp_path / "postgres"
    program.write_text(
        "#!/bin/sh\n"
        'echo "$0: error while loading shared libraries: libxml2.so.2: cannot open shared object file" >&2; exit 127\n'
    )
    program.chmod(0o755)
    with pytest.raises(CannotStart, match=r"the library libxml2\.so\.2 is missing.*apt-get install libxml2\)"):
        check_loads(program)


def test_a_valkey_file_that_is_damaged(tmp_home):
    home = tmp_home()
    (home / "valkey" / "appendonlydir").mkdir(parents=True)
    (home / "valkey" / "appendonlydir" / "appendonly.aof.manifest").write_text("nonsense\n")
    said = refusal(home)
    assert "valkey stopped right after its start" in said
    assert f"its data in {home}/valkey" in said


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("RATE_LIMIT_MAX", "abc", "RATE_LIMIT_MAX must be a whole number, not 'abc'"),
        ("DEBUG", "maybe", "DEBUG must be true or false, not 'maybe'"),
        ("ARCHIVE_COMPRESSION", "lz4", "ARCHIVE_COMPRESSION must be zstd or gzip, not 'lz4'"),
    ],
)
def test_a_setting_that_is_wrong_is_named_before_anything_is_ready(tmp_home, name, value, sentence):
    said = refusal(tmp_home(), **{name: value})
    assert sentence in said
    assert "SnapState is ready" not in said
    assert "Traceback" not in said


def test_secrets_that_were_never_written_are_made_anew(start, tmp_home):
    home = tmp_home()
    for name in ("admin_secret", "django_secret_key"):
        (home / name).touch()
    assert len(start(home=home).dev_env["ADMIN_SECRET"]) == 64


def test_files_that_cannot_be_read_are_named(tmp_home):
    home = tmp_home()
    (home / "dev.env").mkdir()
    assert f"{home}/dev.env cannot be read" in refusal(home)
    settings = tmp_home() / "settings"
    settings.write_bytes(b"PORT=\xff\n")
    assert f"{settings} cannot be read" in refusal(tmp_home(), SNAPSTATE_ENV_FILE=str(settings))


def test_a_home_that_is_a_file(tmp_home):
    home = tmp_home() / "file"
    home.touch()
    assert f"SNAPSTATE_HOME is {home}, which cannot be used (Not a directory)" in refusal(home)


def test_a_given_redis_that_does_not_answer(tmp_home):
    said = refusal(tmp_home(), REDIS_URL="redis://:secret@127.0.0.1:1/0")
    assert "REDIS_URL is given" in said
    assert "redis://127.0.0.1:1/0 does not answer" in said
    assert "secret" not in said


def test_a_given_postgres_that_does_not_answer(tmp_home):
    said = refusal(tmp_home(), DATABASE_URL="postgresql://me:secret@127.0.0.1:1/db")
    assert "DATABASE_URL is given" in said
    assert "secret" not in said


def test_servers_that_are_given_are_used(start, tmp_home, redis, sql):
    given = {name: os.environ[name] for name in ("REDIS_URL", "CELERY_BROKER_URL", "DATABASE_URL")}
    up = start(home=tmp_home(), **given)
    assert {name: up.dev_env[name] for name in given} == given
    assert sorted(path.name for path in up.home.iterdir() if path.is_dir()) == []


@root_only
def test_in_a_private_home_the_screen_says_where_postgres_went(start, tmp_home):
    private = tmp_home() / "private"
    private.mkdir(mode=0o700)
    up = start(home=private / "home")
    folder = Path((private / "home" / "postgres.path").read_text().strip())
    try:
        assert f"Postgres in {folder}" in up.said
        assert (folder / "PG_VERSION").exists()
    finally:
        up.stop()
        shutil.rmtree(folder.parent)
