"""The JavaScript SDK against the live server: every method, on every node, and its own tests."""

import shutil
import subprocess
from collections.abc import Callable

import pytest

from tests.clients import javascript
from tests.clients.javascript import SDK

each_node = pytest.mark.parametrize("node", javascript.nodes(), ids=lambda node: f"node{javascript.version(node)}")


@each_node
def test_every_method_works_against_the_live_server(
    base_url: str, key: str, node: str, intake: Callable[[], None]
) -> None:
    javascript.run("test/live/writes.mjs", "runs/1 é", base_url=base_url, key=key, node=node)
    intake()
    javascript.run("test/live/reads.mjs", "runs/1 é", base_url=base_url, key=key, node=node)


@pytest.mark.parametrize("command", ["deno run -A", "bun"])
def test_every_method_works_on_other_runtimes(
    base_url: str, key: str, command: str, intake: Callable[[], None]
) -> None:
    if not shutil.which(command.split(maxsplit=1)[0]):
        pytest.skip(f"there is no {command.split(maxsplit=1)[0]} here")
    javascript.run("test/live/writes.mjs", "runs/1 é", base_url=base_url, key=key, node=command)
    intake()
    javascript.run("test/live/reads.mjs", "runs/1 é", base_url=base_url, key=key, node=command)


@each_node
def test_its_own_tests_pass(node: str) -> None:
    command = [node, "node_modules/vitest/vitest.mjs", "run", "--reporter=dot"]
    done = subprocess.run(
        command, cwd=SDK, env=javascript.environment("", ""), capture_output=True, text=True, check=False, timeout=110
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout
