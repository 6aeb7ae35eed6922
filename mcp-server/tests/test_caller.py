"""Who calls: with which key, over which connections."""

import asyncio
from typing import Any

import pytest

from snapstate_mcp.caller import bearer, opened

KEYS = ["snp_" + letter * 32 for letter in "abc"]


def test_callers_share_connections_and_nothing_else(api: Any) -> None:
    async def work() -> None:
        async with opened(api.url, None) as callers:
            for key in KEYS * 3:
                await callers.with_key(key, "").client.async_save("wf", 1, {})

    asyncio.run(work())
    assert api.keys == [f"Bearer {key}" for key in KEYS * 3]
    assert api.connections == 1


def test_many_at_once_are_served_at_once(api: Any) -> None:
    async def work() -> None:
        async with opened(api.url, None) as callers:
            calls = [callers.with_key(key, "").client.async_save("wf", step, {}) for step in range(20) for key in KEYS]
            await asyncio.gather(*calls)

    asyncio.run(work())
    assert sorted(api.keys) == sorted(f"Bearer {key}" for key in KEYS * 20)


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("Bearer snp_1", "snp_1"),
        ("bearer  snp_1 ", "snp_1"),
        ("BEARER snp_1", "snp_1"),
        (None, None),
        ("", None),
        ("Bearer", None),
        ("Bearer ", None),
        ("Bearer a b", None),
        ("Basic snp_1", None),
        ("snp_1", None),
        ("Bearer snp_é", None),
        ("Bearer a\r\nX: y", None),
        ("Bearer " + "x" * 513, None),
    ],
)
def test_a_key_is_what_follows_bearer(header: str | None, key: str | None) -> None:
    assert bearer(header) == key


@pytest.mark.parametrize(
    "url", ["snapstate.dev", "ftp://x", "http://", "file:///etc/passwd", "http://x:y", "http://u:p@x"]
)
def test_an_address_that_is_none_ends_it_with_a_word(start: Any, url: str) -> None:
    process = start(SNAPSTATE_API_URL=url)
    assert process.wait(20) == 2
    assert b"SNAPSTATE_API_URL must be an http or https address" in process.stderr.read()
    assert process.stdout.read() == b""


@pytest.mark.parametrize("port", ["65536", "-1", "http"])
def test_a_port_that_is_none_ends_it_with_a_word(start: Any, port: str) -> None:
    process = start("--http", f"--port={port}")
    assert process.wait(20) == 2
    assert b"argument --port: invalid port value" in process.stderr.read()


def test_help_and_version_say_what_there_is(start: Any) -> None:
    helped, version = start("--help"), start("--version")
    assert b"SNAPSTATE_API_KEY" in helped.stdout.read()
    assert version.stdout.read().startswith(b"snapstate-mcp ")
    assert (helped.wait(20), version.wait(20)) == (0, 0)
