"""What a test asks for by name: its own account and keys, clients over real HTTP, and the raw servers behind them.

Nothing is flushed between tests: every test makes its own accounts, and accounts cannot see one another.
"""

import os
import threading
import uuid
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import redis as redis_py
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.signals import request_finished
from django.db import close_old_connections
from django.test import Client

from accounts import services
from accounts.models import Account
from snapstate_project.apps import close_connections
from snapstate_project.events import intake as taking
from snapstate_project.events import relay
from tests import environment
from tests.live_server import LiveServer

PLENTY = 1_000_000  # calls a minute: a test of something else never meets the rate limit


@pytest.fixture(autouse=True)
def fresh_connections() -> Iterator[None]:
    """A test that stopped or killed Postgres leaves no broken connection to the next."""
    yield
    close_old_connections()


@pytest.fixture(scope="session", autouse=True)
def kept_connection() -> Iterator[None]:
    """A `Client` answers in the thread of its test: the connection there is the test's, not the request's to close.

    Django's `Client` sees to that for Django's own receiver of this signal; it cannot know ours.
    """
    tests_own = threading.current_thread()

    def close_unless_it_is_the_tests(**_: object) -> None:
        if threading.current_thread() is tests_own:
            close_old_connections()
        else:
            close_connections()

    request_finished.disconnect(close_connections)
    request_finished.connect(close_unless_it_is_the_tests)
    yield
    request_finished.disconnect(close_unless_it_is_the_tests)
    request_finished.connect(close_connections)


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    """The whole application behind real HTTP, in this process."""
    server = LiveServer()
    yield server.start()
    server.stop()


@pytest.fixture
def make_account() -> Callable[..., Account]:
    """Another account each time it is called."""

    def make(*, rate_limit_max: int | None = PLENTY) -> Account:
        name = f"test-{uuid.uuid4().hex[:12]}"
        account = services.create_account(email=f"{name}@example.com", name=name)
        return services.set_rate_limit(account, rate_limit_max)

    return make


@pytest.fixture
def account(make_account: Callable[..., Account]) -> Account:
    return make_account()


@pytest.fixture
def key(account: Account) -> str:
    """The secret of a key with every scope."""
    return services.issue_key(account, label="test")[1]


@pytest.fixture
def stranger(make_account: Callable[..., Account]) -> str:
    """The secret of another account's key."""
    return services.issue_key(make_account(), label="stranger")[1]


@pytest.fixture
def connect(base_url: str) -> Iterator[Callable[[str], httpx.Client]]:
    """An HTTP client with this bearer token, closed after the test."""
    clients: list[httpx.Client] = []

    def make(token: str) -> httpx.Client:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        clients.append(httpx.Client(base_url=base_url, headers=headers, timeout=30, trust_env=False))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def api(connect: Callable[[str], httpx.Client], key: str) -> httpx.Client:
    return connect(key)


@pytest.fixture
def stranger_api(connect: Callable[[str], httpx.Client], stranger: str) -> httpx.Client:
    return connect(stranger)


@pytest.fixture
def anonymous(connect: Callable[[str], httpx.Client]) -> httpx.Client:
    return connect("")


@pytest.fixture
def operator_api(connect: Callable[[str], httpx.Client]) -> httpx.Client:
    return connect(settings.ADMIN_SECRET)


@pytest.fixture
def admin_client() -> Client:
    """A browser's session of an operator who may do everything."""
    name = f"operator-{uuid.uuid4().hex[:12]}"
    user = get_user_model().objects.create_superuser(username=name, email=f"{name}@example.com")
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)
    return client


@pytest.fixture
def intake() -> Callable[[], None]:
    """Everything that waits goes its whole way: Redis to Postgres, then every event to every subscriber."""

    def drain_all() -> None:
        taking.drain()
        for subscriber in sorted(relay.subscribers.values(), key=attrgetter("last")):
            while relay.relay_once(subscriber.name):
                pass

    return drain_all


@pytest.fixture
def redis() -> Iterator[redis_py.Redis]:
    with redis_py.Redis.from_url(settings.REDIS_URL) as client:
        yield client


@pytest.fixture
def sql() -> Iterator["psycopg.Connection[Any]"]:
    """A raw connection that commits every statement."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        yield connection


@pytest.fixture
def home() -> Path:
    """A folder for servers of a test's own; the user that Postgres runs as can enter it."""
    return environment.open_folder()
