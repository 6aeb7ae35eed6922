"""Other people's client and checks of MCP on the live bridge: the inspector's CLI and the conformance suite."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from snapstate_project.dev.home import BASE_DIR
from tests.clients.mcp_bridge import http_bridge
from tests.clients.mcp_key_proxy import with_key

TOOLS_OF_NODE = BASE_DIR / "mcp-server" / "tests" / "node" / "node_modules" / ".bin"
SCENARIOS = [
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "completion-complete",
    "dns-rebinding-protection",
]
ALL_PASSED = re.compile(r"Passed: ([1-9]\d*)/\1, 0 failed, 0 warnings")


@pytest.fixture(scope="module")
def url(base_url: str) -> Iterator[str]:
    with http_bridge(base_url) as process:
        yield process.url


def node(name: str, *arguments: str, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """By the node of our environment, which is newer than that of most machines."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    assert (TOOLS_OF_NODE / name).exists(), "npm ci has not run in mcp-server/tests/node: make test does it"
    command = [str(TOOLS_OF_NODE / name), *arguments]
    return subprocess.run(
        command, env={**os.environ, "PATH": path}, cwd=cwd, capture_output=True, text=True, timeout=90, check=False
    )


def inspected(*arguments: str) -> Any:
    ran = node("mcp-inspector", "--cli", *arguments)
    assert ran.returncode == 0, ran.stderr + ran.stdout
    return json.loads(ran.stdout)


def test_the_inspector_saves_and_resumes_over_stdio(base_url: str, key: str) -> None:
    environment = ["-e", f"SNAPSTATE_API_URL={base_url}", "-e", f"SNAPSTATE_API_KEY={key}"]
    bridge = [*environment, sys.executable, "-m", "snapstate_mcp", "--method"]
    listed = inspected(*bridge, "tools/list")["tools"]
    assert {tool["name"] for tool in listed} >= {"save_checkpoint", "resume_workflow"}
    arguments = ["workflow_id=by inspector", "step=1", 'state={"a": [1, null]}']
    given = [part for argument in arguments for part in ("--tool-arg", argument)]
    saved = inspected(*bridge, "tools/call", "--tool-name", "save_checkpoint", *given)
    assert saved["structuredContent"]["checkpoint_id"] == "cp_by inspector_001"
    read = inspected(*bridge, "resources/read", "--uri", "snapstate://workflows/by%20inspector")
    assert json.loads(read["contents"][0]["text"])["state"] == {"a": [1, None]}


def test_the_inspector_works_over_http_with_its_own_key(url: str, key: str) -> None:
    bridge = [url, "--transport", "http", "--header", f"Authorization: Bearer {key}", "--method"]
    assert inspected(*bridge, "prompts/list")["prompts"][0]["name"] == "checkpoint_as_you_go"
    call = ["tools/call", "--tool-name", "resume_workflow", "--tool-arg", "workflow_id=none"]
    assert inspected(*bridge, *call)["structuredContent"]["found"] is False


def conforms(url: str, key: str, scenario: str, folder: Path) -> None:
    """The suite cannot send a key, so a proxy adds it; every other header arrives as the suite sent it."""
    with with_key(url, key) as open_url:
        ran = node("conformance", "server", "--url", open_url, "--scenario", scenario, cwd=folder)
    assert ALL_PASSED.search(ran.stdout), ran.stdout + ran.stderr


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_conformance_suite_passes(url: str, key: str, scenario: str, tmp_path: Path) -> None:
    conforms(url, key, scenario, tmp_path)


def test_the_conformance_suites_scenario_of_sessions_passes(base_url: str, key: str, tmp_path: Path) -> None:
    with http_bridge(base_url, "--sessions") as process:
        conforms(process.url, key, "server-sse-multiple-streams", tmp_path)
