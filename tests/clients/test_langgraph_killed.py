"""Real graphs killed in the middle, and gone on with in another process: each finished node had its effect once."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from snapstate_sdk import SnapStateClient
from snapstate_sdk.adapters.langgraph import SnapStateSaver

from snapstate_project.dev.home import BASE_DIR
from snapstate_project.dev.process import wait_until
from tests.clients.graphs import GRAPHS

CHAIN = [row[0] for row in GRAPHS["chain"]]


@contextmanager
def process(*arguments: str) -> Iterator[Any]:
    command = [sys.executable, "-W", "error", "-m", "tests.clients.graphs", *arguments]
    with subprocess.Popen(command, cwd=BASE_DIR, stdout=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


def lines(output: IO[str], count: int) -> list[str]:
    return [output.readline().strip() for _ in range(count)]


def open_gates(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).touch()


def effects(folder: Path) -> list[str]:
    return (folder / "effects").read_text().split()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_graph_killed_in_the_middle_goes_on_at_the_node_it_was_in(
    base_url: str, key: str, tmp_path: Path, mode: str
) -> None:
    arguments = (base_url, key, "killed", str(tmp_path), "chain", mode)
    open_gates(tmp_path, *CHAIN[:2])
    with process(*arguments) as first:
        assert lines(first.stdout, 3) == CHAIN[:3]
        first.kill()
    assert effects(tmp_path) == CHAIN[:2]
    open_gates(tmp_path, *CHAIN)
    with process(*arguments) as second:
        assert lines(second.stdout, 4) == [*CHAIN[2:], " ".join(CHAIN)]
        assert second.wait(60) == 0
    assert effects(tmp_path) == CHAIN


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_of_nodes_side_by_side_the_finished_one_does_not_run_again(
    base_url: str, key: str, tmp_path: Path, mode: str
) -> None:
    arguments = (base_url, key, "side by side", str(tmp_path), "fan", mode)
    open_gates(tmp_path, "left")
    with process(*arguments) as first, SnapStateClient(key, base_url) as client:
        assert sorted(lines(first.stdout, 2)) == ["left", "right"]
        _, writes = SnapStateSaver(client).workflow_ids("side by side")
        wait_until(lambda: "left" in str(client.replay(writes).checkpoints), seconds=60)
        first.kill()
    open_gates(tmp_path, "right", "join")
    with process(*arguments) as second:
        assert lines(second.stdout, 3) == ["right", "join", "left right join"]
        assert second.wait(60) == 0
    assert effects(tmp_path) == ["left", "right", "join"]
