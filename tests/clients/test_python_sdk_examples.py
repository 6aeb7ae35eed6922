"""The examples of our Python SDK, run as people run them; killed in the middle, they go on where they were."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from snapstate_sdk import SnapStateClient

from snapstate_project.dev.home import BASE_DIR

EXAMPLES = BASE_DIR / "sdk-python" / "examples"
FILES = 8


@pytest.fixture
def sdk(base_url: str, key: str) -> Iterator[SnapStateClient]:
    with SnapStateClient(key, base_url) as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(FILES):
        (tmp_path / f"{number}.txt").write_text("the moon pulls the sea " * (number + 1))
    return tmp_path


@pytest.fixture
def run(base_url: str, key: str) -> Callable[..., Any]:
    """A process of its own; `pause`: seconds for each step."""

    @contextmanager
    def start(example: str, *arguments: object, pause: float = 0) -> Iterator[Any]:
        known = {"SNAPSTATE_API_KEY": key, "SNAPSTATE_API_URL": base_url, "PAUSE_SECONDS": str(pause)}
        command = [sys.executable, str(EXAMPLES / example), *map(str, arguments)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env={**os.environ, **known}, stdout=pipe, stderr=pipe, text=True) as process:
            try:
                yield process
            finally:
                process.kill()

    return start


def said(process: Any) -> str:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return str(out)


def test_the_basic_agent_goes_on_where_it_was_killed(sdk: SnapStateClient, run: Any, folder: Path) -> None:
    with run("basic_agent.py", "stock/1", folder, pause=0.2) as first:
        assert first.stdout.readline() == "began at step 1\n"
        for step in (2, 3, 4):
            assert first.stdout.readline().startswith(f"saved step {step}: ")
        first.kill()
    reached = sdk.resume("stock/1").latest_checkpoint.step
    assert reached in (4, 5)
    with run("basic_agent.py", "stock/1", folder) as second:
        lines = said(second).splitlines()
    assert lines[0] == f"resumed at step {reached}"
    assert [int(re.findall(r"step (\d+)", line)[0]) for line in lines[1:-1]] == list(range(reached + 1, FILES + 2))
    labels = [one.label for one in sdk.checkpoints("stock/1")]
    assert labels == ["planned", *[f"looked at {number}.txt" for number in range(FILES)], "completed"]
    resumed = sdk.resume("stock/1")
    assert (resumed.status, resumed.state["totals"]["files"]) == ("completed", FILES)
    with run("basic_agent.py", "stock/1", folder) as third:
        assert said(third).startswith("was done before")


def test_agents_that_share_a_board_finish_it_once_after_all_were_killed(
    sdk: SnapStateClient, run: Any, folder: Path
) -> None:
    with run("multi_agent.py", "board", folder, "ada", "grace", "mary", pause=0.2) as first:
        for _ in range(3):
            assert first.stdout.readline()
        first.kill()
    assert sdk.resume("board").status == "active"
    with run("multi_agent.py", "board", folder, "ada", "grace", "mary") as second:
        assert f"done: {FILES} files" in said(second)
    end = sdk.resume("board")
    assert (end.status, end.state["todo"], end.state["doing"]) == ("completed", [], {})
    assert sorted(Path(path).name for path in end.state["done"]) == [f"{number}.txt" for number in range(FILES)]
    assert all(one["result"]["the"] == 2 * (int(Path(path).stem) + 1) for path, one in end.state["done"].items())
    handed_in = [one.label for one in sdk.checkpoints("board", include_state=False) if "hands in" in (one.label or "")]
    assert len(handed_in) == FILES
    assert {agent.agent_id for agent in sdk.list_agents()} == {"ada", "grace", "mary"}


@pytest.mark.parametrize("example", ["basic_agent.py", "multi_agent.py"])
def test_an_example_says_how_it_is_called(run: Any, example: str) -> None:
    with run(example) as process:
        assert example in process.communicate(timeout=60)[1]
        assert process.returncode == 1
