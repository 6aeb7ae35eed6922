"""The JavaScript SDK against the live server: every method, on every node, and its own tests."""

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


@each_node
def test_its_own_tests_pass(node: str) -> None:
    command = [node, "node_modules/vitest/vitest.mjs", "run", "--reporter=dot"]
    done = subprocess.run(
        command, cwd=SDK, env=javascript.environment("", ""), capture_output=True, text=True, check=False, timeout=110
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout
