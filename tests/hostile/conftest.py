"""Every tier that a nasty value goes through, and the clients it comes by.

A module's tests share an account, for there are many; each saves in a workflow of its own.
"""

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import httpx
import pytest
from django.conf import settings
from snapstate_sdk import SnapStateClient

from tests.clients import published
from tests.clients.python_sdk import Twin

PLENTY = 1_000_000


@pytest.fixture(scope="module")
def account() -> Any:
    services = import_module("accounts.services")  # which needs Django's settings, known once the servers run
    name = f"hostile-{uuid.uuid4().hex[:12]}"
    return services.set_rate_limit(services.create_account(email=f"{name}@example.com", name=name), PLENTY)


@pytest.fixture(scope="module")
def key(account: Any) -> str:
    secret: str = import_module("accounts.services").issue_key(account)[1]
    return secret


def expire_all(seconds: int = 3600) -> None:
    """What has a short TTL goes to the archive, and leaves all else: two passes, as beat makes them."""
    for _ in range(2):
        import_module("checkpoints.archiving").archive_expiring(now=datetime.now(UTC) + timedelta(seconds=seconds))


def caller(base_url: str, token: str) -> httpx.Client:
    return httpx.Client(base_url=base_url, headers={"Authorization": f"Bearer {token}"}, timeout=30, trust_env=False)


@pytest.fixture(scope="module")
def api(base_url: str, key: str) -> Iterator[httpx.Client]:
    with caller(base_url, key) as client:
        yield client


@pytest.fixture(scope="module")
def operator_api(base_url: str) -> Iterator[httpx.Client]:
    with caller(base_url, settings.ADMIN_SECRET) as client:
        yield client


@pytest.fixture(scope="module")
def sdk(base_url: str, key: str) -> Iterator[Any]:
    """The published client."""
    with published.client(base_url, key) as client:
        yield client


@pytest.fixture(scope="module", params=[False, True], ids=["sync", "async"])
def python_sdk(request: pytest.FixtureRequest, base_url: str, key: str) -> Iterator[Twin]:
    """Our Python SDK."""
    twin = Twin(SnapStateClient(key, base_url), through_asyncio=request.param)
    yield twin
    twin.stop()


@pytest.fixture
def wf() -> str:
    return f"wf-{uuid.uuid4().hex[:12]}"


@pytest.fixture(params=["hot", "warm", "archive"])
def settle(request: pytest.FixtureRequest, intake: Callable[[], None], redis: Any) -> Callable[[], None]:
    """Moves all that is saved to the tier of this run, so that it is read from there."""

    def move() -> None:
        if request.param != "hot":
            intake()
        if request.param == "warm":
            redis.flushall()
        if request.param == "archive":
            expire_all()

    return move
