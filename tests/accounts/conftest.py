"""Fixtures of the accounts' tests; imported before Django is set up, so it imports the rooms late."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.db.backends.utils import CursorWrapper

SCRIPT_CALLS = ("evalsha", "eval")


@pytest.fixture
def exact() -> Iterator[None]:
    """Counting without allotments."""
    settings.LOCAL_ADMISSION, before = False, settings.LOCAL_ADMISSION
    yield
    settings.LOCAL_ADMISSION = before


@pytest.fixture
def limited(make_account: Callable[..., Any]) -> Callable[[int], str]:
    """The secret of a new key with this limit."""

    def make(limit: int) -> str:
        secret: str = import_module("accounts.services").issue_key(make_account(rate_limit_max=limit))[1]
        return secret

    return make


@pytest.fixture
def trips(redis: Any) -> Callable[[], int]:
    """How many scripts Redis has been sent."""
    return lambda: sum(redis.info("commandstats").get(f"cmdstat_{name}", {}).get("calls", 0) for name in SCRIPT_CALLS)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that Django sends to Postgres, from any thread."""
    sent: list[str] = []
    execute = CursorWrapper.execute

    def noted(cursor: Any, sql: Any, params: Any = None) -> Any:
        sent.append(str(sql))
        return execute(cursor, sql, params)

    monkeypatch.setattr(CursorWrapper, "execute", noted)
    return sent
