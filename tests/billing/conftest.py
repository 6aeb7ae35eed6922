"""Clocks of servers elsewhere, and what accounts hold; imported before Django is set up, so it imports rooms late."""

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.db import connection


@pytest.fixture(params=["UTC", "Pacific/Auckland"])
def server_zone(request, monkeypatch):
    """The zone that the clocks of this machine and of database sessions are set to."""
    monkeypatch.setenv("TZ", request.param)
    monkeypatch.setenv("PGTZ", request.param)
    time.tzset()
    connection.close()
    yield
    connection.close()
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any, float], None]]:
    """Says how many gigabytes an account holds, to whoever asks the room that settings name."""
    monkeypatch.setattr(settings, "STORAGE_HELD", "tests.billing.steps.held_bytes")
    monkeypatch.setattr(settings, "STORAGE_HELD_BY_ACCOUNT", "tests.billing.steps.held_by_account")
    steps = import_module("tests.billing.steps")
    yield steps.hold
    steps.HELD.clear()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Stripe, as settings name it."""
    fake_stripe = import_module("tests.billing.fake_stripe")
    fake = fake_stripe.FakeStripe()
    monkeypatch.setattr(settings, "STRIPE_SECRET_KEY", "sk_test_of-the-tests")
    monkeypatch.setattr(settings, "STRIPE_WEBHOOK_SECRET", fake_stripe.SECRET)
    monkeypatch.setattr(settings, "STRIPE_API_BASE", fake.url)
    yield fake
    fake.close()
    # Another test's Stripe does not know these customers.
    import_module("billing.models").MeterReport.objects.filter(state="waiting").update(state="refused")


@pytest.fixture
def customer(fake: Any, account: Any) -> str:
    """The id that the account has at Stripe."""
    made: str = import_module("billing.stripe_sync").make_customer(account)
    return made
