"""Nasty values through the MCP bridge: objects come out as a JSON round trip gives, text comes out byte for byte."""

import json
from typing import Any

import httpx
import pytest

from tests.clients.mcp_bridge import (
    content,
    http_bridge,
    over_http,
    over_stdio,
    parameters,
    refusal,
    run,
    there_and_back,
)
from tests.hostile.reading import Resumed, read, workflow
from tests.hostile.test_state import KEPT, REFUSED

PRETTY = (
    '{\n  "id": 9007199254740993, "f": 0.1234567890123456789, "e": 1E2, "z": -0.0, "o": 1.0, "é": "\\u00e9", "a": []\n}'
)


def transport(name: str, base_url: str, key: str, doing: Any) -> Any:
    if name == "stdio":
        return run(over_stdio(parameters(base_url, key)), doing)
    with http_bridge(base_url) as process:
        return run(over_http(process.url, key), doing)


@pytest.mark.parametrize("name", ["stdio", "http"])
def test_objects_come_out_as_a_json_round_trip_gives(base_url: str, key: str, name: str) -> None:
    async def all_of_them(client: Any) -> dict[str, list[Any]]:
        return {kind: await there_and_back(client, kind, 1, json.loads(text)) for kind, text in KEPT.items()}

    seen = transport(name, base_url, key, all_of_them)
    assert seen == {kind: [json.loads(text)] * 3 for kind, text in KEPT.items()}


def test_a_state_sent_as_text_is_kept_byte_for_byte(base_url: str, key: str, api: httpx.Client) -> None:
    texts = {**KEPT, "pretty": PRETTY}

    async def all_of_them(client: Any) -> list[str]:
        for kind, text in texts.items():
            arguments = {"workflow_id": kind, "step": 1, "state": text, "metadata": text}
            content(await client.call_tool("save_checkpoint", arguments))
        resource = await client.read_resource("snapstate://workflows/pretty")
        return [one.text for one in resource.contents]

    [shown] = run(over_stdio(parameters(base_url, key)), all_of_them)
    assert f'"metadata":{PRETTY},"state":{PRETTY}}}' in shown
    for kind, text in texts.items():
        kept = read(api, workflow(kind, "resume"), Resumed).latest_checkpoint
        assert (bytes(kept.state).decode(), bytes(kept.metadata).decode()) == (text, text)


def test_what_is_no_json_is_refused_by_its_place_and_breaks_nothing(base_url: str, key: str) -> None:
    async def all_of_them(client: Any) -> dict[str, str]:
        arguments = {"workflow_id": "refused", "step": 1}
        return {
            kind: refusal(await client.call_tool("save_checkpoint", {**arguments, "state": text}))
            for kind, (text, _) in REFUSED.items()
        }

    told = run(over_stdio(parameters(base_url, key)), all_of_them)
    assert [kind for kind, text in told.items() if "- state" not in text] == []
    assert [kind for kind, text in told.items() if len(text) > 400] == []
