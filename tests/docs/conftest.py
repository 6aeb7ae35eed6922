"""Beside the live server, what else of it the samples need: intake, at work."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connections

from snapstate_project.dev.home import BASE_DIR


@pytest.fixture
def intake_at_work(intake: Callable[[], None]) -> Iterator[None]:
    """Lists, reports and deliveries follow a save, as they do where all processes run."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.3):
            intake()
        connections.close_all()

    thread = threading.Thread(target=work, name="intake")
    thread.start()
    yield
    stop.set()
    thread.join(10)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where samples run; the JavaScript SDK is installed there."""
    packages = tmp_path / "node_modules" / "@snapstate"
    packages.mkdir(parents=True)
    (packages / "sdk").symlink_to(BASE_DIR / "sdk")
    return tmp_path
