"""Subscribers that live as long as a test."""

from collections.abc import Callable, Iterator
from importlib import import_module

import pytest


@pytest.fixture
def subscribe() -> Iterator[Callable[..., str]]:
    """Register a subscriber that hears only what happens from now on; its name."""
    with import_module("tests.events.steps").subscribers() as register:
        yield register
