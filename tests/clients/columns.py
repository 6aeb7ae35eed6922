"""The clients that a nasty value goes in by and comes out of: each saves a text, and tells a checkpoint as JSON text.

A column that is `exact` keeps and shows the text as it is; the others go through their language's own values.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import msgspec
from snapstate_sdk import SnapStateClient

from tests.clients import javascript, published
from tests.clients.mcp_bridge import content, over_stdio, parameters, run
from tests.hostile.reading import Resumed, read, save, saved, workflow

type Texts = dict[str, str]  # by workflow
type Told = dict[str, tuple[str, str]]  # state and metadata, as JSON text


class Column:
    exact = False
    kind = "python"  # whose values it has: what JSON's numbers become

    def __init__(self, base_url: str, key: str) -> None:
        self.base_url, self.key = base_url, key

    def save_all(self, texts: Texts) -> None:
        with self.client() as client:
            for name, text in texts.items():
                self.save(client, name, text)

    def read_all(self, names: list[str]) -> Told:
        with self.client() as client:
            return {name: self.read(client, name) for name in names}

    def client(self) -> Any:
        return SnapStateClient(self.key, self.base_url)

    def save(self, client: Any, name: str, text: str) -> None:
        raise NotImplementedError

    def read(self, client: Any, name: str) -> tuple[str, str]:
        raise NotImplementedError


class RawHttp(Column):
    exact = True

    def client(self) -> Any:
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.Client(base_url=self.base_url, headers=headers, timeout=30, trust_env=False)

    def save(self, client: Any, name: str, text: str) -> None:
        saved(save(client, name, 1, text, metadata=text))

    def read(self, client: Any, name: str) -> tuple[str, str]:
        found = read(client, workflow(name, "resume"), Resumed).latest_checkpoint
        return bytes(found.state).decode(), bytes(found.metadata).decode()


class PythonRaw(Column):
    exact = True

    def save(self, client: Any, name: str, text: str) -> None:
        client.save(name, 1, state_json=text, metadata_json=text)

    def read(self, client: Any, name: str) -> tuple[str, str]:
        found = client.resume(name).latest_checkpoint
        return found.state_json, found.metadata_json


class PythonDict(Column):
    def save(self, client: Any, name: str, text: str) -> None:
        client.save(name, 1, json.loads(text), metadata=json.loads(text))

    def read(self, client: Any, name: str) -> tuple[str, str]:
        found = client.resume(name).latest_checkpoint
        return json.dumps(found.state), json.dumps(found.metadata)


class Published(PythonDict):
    """1.0.2, whose answers to a resume have no metadata: its get has."""

    def client(self) -> Any:
        return published.client(self.base_url, self.key)

    def read(self, client: Any, name: str) -> tuple[str, str]:
        found = client.get(f"cp_{name}_001")
        return json.dumps(found.state), json.dumps(found.metadata)


class JavaScriptRaw(Column):
    exact = True
    kind = "javascript"
    how = "raw"

    @contextmanager
    def client(self) -> Iterator[Callable[..., Any]]:
        """A node process that is asked line by line."""
        script = [javascript.BESIDE, "tests/clients/values.mjs", str(javascript.SDK / "dist" / "index.mjs")]
        environment = javascript.environment(self.base_url, self.key)
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        with subprocess.Popen(script, cwd=javascript.SDK.parent, env=environment, **pipes) as node:
            yield lambda **asked: self.answer(node, asked)
            node.communicate()

    def answer(self, node: Any, asked: dict[str, str]) -> Any:
        node.stdin.write(json.dumps({**asked, "how": self.how}) + "\n")
        node.stdin.flush()
        told = msgspec.json.decode(node.stdout.readline())
        assert not isinstance(told, dict), told
        return told

    def save(self, client: Any, name: str, text: str) -> None:
        assert client(workflowId=name, text=text) == "saved"

    def read(self, client: Any, name: str) -> tuple[str, str]:
        state, metadata = client(workflowId=name)
        return state, metadata


class JavaScriptValues(JavaScriptRaw):
    exact = False
    how = "values"


class McpObjects(Column):
    """Through a model's host, over stdio."""

    def sent(self, text: str) -> Any:
        return json.loads(text)

    def save_all(self, texts: Texts) -> None:
        async def doing(client: Any) -> None:
            for name, text in texts.items():
                arguments = {"workflow_id": name, "step": 1, "state": self.sent(text), "metadata": self.sent(text)}
                content(await client.call_tool("save_checkpoint", arguments))

        run(over_stdio(parameters(self.base_url, self.key)), doing)

    def read_all(self, names: list[str]) -> Told:
        async def doing(client: Any) -> Told:
            told = {}
            for name in names:
                found = content(await client.call_tool("resume_workflow", {"workflow_id": name}))
                told[name] = (json.dumps(found["state"]), json.dumps(found["metadata"]))
            return told

        seen: Told = run(over_stdio(parameters(self.base_url, self.key)), doing)
        return seen


class McpText(McpObjects):
    """An object that a model wrote as a text is kept as that text."""

    exact = True

    def sent(self, text: str) -> Any:
        return text


COLUMNS = (RawHttp, PythonRaw, PythonDict, Published, JavaScriptRaw, JavaScriptValues, McpObjects, McpText)
