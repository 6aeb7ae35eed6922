"""Beside the live server, what else of it the samples need: intake, at work."""

import threading
from collections.abc import Callable, Iterator

import pytest
from django.db import connections


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
