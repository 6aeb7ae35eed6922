"""Tests of this room make events by the thousand; tests of other rooms are not to meet them."""

from collections.abc import Iterator
from importlib import import_module

import pytest
from django.db.models import Max


@pytest.fixture(autouse=True)
def no_events_left() -> Iterator[None]:
    events = import_module("snapstate_project.events.models").Event.objects
    newest = events.aggregate(newest=Max("id"))["newest"] or 0
    yield
    events.filter(id__gt=newest).delete()
