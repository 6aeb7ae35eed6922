"""A Valkey of a test's own, to freeze, kill and start again, and a link to it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from snapstate_project.common.link import Link, Script
from snapstate_project.dev.valkey import Valkey

type Scenario = Callable[[Link], Awaitable[Any]]


@pytest.fixture
def server(home: Path) -> Iterator[Valkey]:
    server = Valkey("link-test", home / "valkey")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def linked(server: Valkey) -> Callable[..., Any]:
    """Runs a scenario on a loop and a link of its own; the timeout is short so that no test waits long."""

    def run(scenario: Scenario, *, url: str = server.url, timeout: float = 0.4, limit: int = 10_000) -> Any:
        async def on_a_loop() -> Any:
            link = Link(url, timeout=timeout, limit=limit)
            try:
                return await scenario(link)
            finally:
                await link.close()

        return asyncio.run(on_a_loop())

    return run


@pytest.fixture
def echo(tmp_path: Path) -> Script:
    source = tmp_path / "echo.lua"
    source.write_text("#!lua flags=no-writes\nreturn {KEYS[1], ARGV[1], ARGV[2]}")
    return Script(source)
