"""Receivers over real HTTP on loopback, which a setting opens for a test, and the acts around them."""

from importlib import import_module

import pytest
from django.conf import settings


@pytest.fixture(autouse=True)
def nothing_left_over(sql):
    """Earlier tests' deliveries must not be sent by this one."""
    sql.execute(
        "UPDATE webhooks_delivery SET next_attempt_at = NULL, status = 'failed' WHERE next_attempt_at IS NOT NULL"
    )


@pytest.fixture
def loopback(monkeypatch):
    """Deliveries may go to this machine."""
    monkeypatch.setattr(settings, "WEBHOOK_PRIVATE_NETWORKS", ["127.0.0.0/8"])


@pytest.fixture
def receiver(loopback):
    """Makes a receiver that answers in turn as it is told, the last answer for ever."""
    made = []

    def make(*answers, **more):
        made.append(import_module("tests.webhooks.receiver").Receiver(*answers, **more))
        return made[-1]

    yield make
    for each in made:
        each.stop()


@pytest.fixture
def hook(api):
    """Registers a webhook; its answer."""

    def register(url, *events, **more):
        answer = api.post("/webhooks", json={"url": url, "events": events or ["checkpoint.saved"], **more})
        assert answer.status_code == 201, answer.text
        return answer.json()

    return register


@pytest.fixture
def resolved(monkeypatch):
    """A resolver that the test controls: a function that sets its next answers, the last one for ever."""
    monkeypatch.setattr(settings, "WEBHOOK_RESOLVER", "tests.webhooks.receiver.resolve")
    script = import_module("tests.webhooks.receiver").RESOLVED
    script.clear()
    return lambda *answers: script.extend(answers)
