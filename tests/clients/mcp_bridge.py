"""The MCP bridge as a process of its own, over either transport, and the official Python client that talks to it."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TextIO, cast
from urllib.parse import quote

import httpx
import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from snapstate_project.dev.process import Process, wait_until
from snapstate_project.dev.server import LOOPBACK, free_port

NOWHERE = cast(TextIO, subprocess.DEVNULL)  # what it logs is looked at elsewhere
Doing = Callable[[Client], Awaitable[Any]]


def parameters(base_url: str, key: str, *arguments: str) -> StdioServerParameters:
    environment = {"SNAPSTATE_API_URL": base_url, "SNAPSTATE_API_KEY": key}
    return StdioServerParameters(command=sys.executable, args=["-m", "snapstate_mcp", *arguments], env=environment)


class HttpBridge(Process):
    """It has no key, and takes none from its environment; `lines` is all that it printed."""

    def __init__(self, base_url: str, *arguments: str) -> None:
        port = str(free_port())
        command = [sys.executable, "-m", "snapstate_mcp", "--http", "--port", port, "--api-url", base_url, *arguments]
        self.lines: list[str] = []
        super().__init__("mcp", command, log=lambda _, line: self.lines.append(line))
        self.env = {**os.environ, "SNAPSTATE_API_KEY": "snp_" + "f" * 32}
        self.url = f"http://{LOOPBACK}:{port}/mcp"

    def answers(self) -> bool:
        try:
            return httpx.get(self.url.replace("/mcp", "/health"), trust_env=False).status_code == 200
        except httpx.TransportError:
            return False


@contextmanager
def http_bridge(base_url: str, *arguments: str) -> Iterator[HttpBridge]:
    process = HttpBridge(base_url, *arguments)
    process.spawn()
    try:
        assert wait_until(process.answers, seconds=30), process.lines
        yield process
    finally:
        process.stop()


@asynccontextmanager
async def over_stdio(server: StdioServerParameters, mode: str = "auto") -> Any:
    async with Client(stdio_client(server, errlog=NOWHERE), mode=mode) as client:
        yield client


@asynccontextmanager
async def over_http(url: str, key: str, mode: str = "auto") -> Any:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60, trust_env=False)
    async with http, Client(streamable_http_client(url, http_client=http), mode=mode) as client:
        yield client


def run(connection: Any, doing: Doing) -> Any:
    """What `doing` returns, given a client over this connection."""

    async def whole() -> Any:
        async with connection as client:
            return await doing(client)

    return asyncio.run(whole())


def calls(tool: str, **arguments: Any) -> Doing:
    return lambda client: client.call_tool(tool, arguments)


def content(result: CallToolResult) -> dict[str, Any]:
    """Of an answer that is no error: the same as text and as structure."""
    assert not result.is_error, result.content
    structured: dict[str, Any] | None = result.structured_content
    assert structured is not None
    assert json.loads(result.content[0].text) == structured  # type: ignore[union-attr]
    return structured


def refusal(result: CallToolResult) -> str:
    """The text of an answer that is an error."""
    assert result.is_error
    text: str = result.content[0].text  # type: ignore[union-attr]
    return text


async def there_and_back(client: Client, workflow_id: str, step: int, state: Any) -> list[Any]:
    """The states by each way of reading, after one save: resumed, in the history, as a resource."""
    arguments = {"workflow_id": workflow_id, "step": step, "state": state}
    saved = content(await client.call_tool("save_checkpoint", arguments))
    assert saved["checkpoint_id"] == f"cp_{workflow_id}_{step:03d}"
    resumed = content(await client.call_tool("resume_workflow", {"workflow_id": workflow_id}))
    asked = {"workflow_id": workflow_id, "from_step": step, "max_characters": 1_000_000}
    history = content(await client.call_tool("get_workflow_history", asked))
    resource = await client.read_resource(f"snapstate://workflows/{quote(workflow_id, safe='')}")
    read = json.loads(resource.contents[0].text)  # type: ignore[union-attr]
    assert {resumed["workflow_id"], history["workflow_id"], read["workflow_id"]} == {workflow_id}
    return [resumed["state"], history["checkpoints"][0]["state"], read["state"]]
