"""Homes and running instances for the tests of `make up`."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import environment
from tests.dev.steps import Up


@pytest.fixture(scope="session")
def tmp_home() -> Callable[[], Path]:
    """A new folder for each call, which the user that Postgres runs as can enter."""
    return environment.open_folder


@pytest.fixture(scope="module")
def running(tmp_home: Callable[[], Path]) -> Iterator[Up]:
    """One instance for all tests of a module that leave it as it is."""
    up = Up(tmp_home())
    yield up.start()
    up.stop()


@pytest.fixture
def start(tmp_home: Callable[[], Path]) -> Iterator[Callable[..., Up]]:
    """An instance of the test's own; what is still running afterwards is stopped."""
    started: list[Up] = []

    def make(*command: str, home: Path | None = None, **env: str) -> Up:
        started.append(Up(home or tmp_home(), *command, **env))
        return started[-1].start()

    yield make
    for up in started:
        up.stop()
