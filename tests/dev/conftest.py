"""Homes and running instances for the tests of `make up`."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from snapstate_project.dev.home import BASE_DIR
from snapstate_project.dev.postgres import Postgres
from tests import environment
from tests.dev.steps import Up


@pytest.fixture(scope="session")
def tmp_home() -> Callable[[], Path]:
    """A new folder for each call, which the user that Postgres runs as can enter."""
    return environment.open_folder


@pytest.fixture(scope="session")
def migrated() -> Path:
    """A home with nothing but a Postgres that is migrated already: what begins with a copy of it is up the sooner."""
    home = environment.open_folder()
    server = Postgres(home, fsync=False)
    server.start()
    try:
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
        subprocess.run(migrate, cwd=BASE_DIR, env={**os.environ, "DATABASE_URL": server.url}, check=True)
    finally:
        server.stop()
    return home


@pytest.fixture
def migrated_home(migrated: Path) -> Callable[[], Path]:
    def copy() -> Path:
        home = environment.open_folder()
        subprocess.run(["cp", "-a", f"{migrated}/.", str(home)], check=True)  # owners too: Postgres is not root's
        return home

    return copy


@pytest.fixture(scope="module")
def running(tmp_home: Callable[[], Path]) -> Iterator[Up]:
    """One instance for all tests of a module that leave it as it is."""
    up = Up(tmp_home())
    yield up.start()
    up.stop()


@pytest.fixture
def start(migrated_home: Callable[[], Path]) -> Iterator[Callable[..., Up]]:
    """An instance of the test's own; what is still running afterwards is stopped."""
    started: list[Up] = []

    def make(*command: str, home: Path | None = None, **env: str) -> Up:
        started.append(Up(home or migrated_home(), *command, **{"WEB_CONCURRENCY": "1", **env}))
        return started[-1].start()

    yield make
    for up in started:
        up.stop()
