"""The examples of the JavaScript SDK run, are killed in the middle, and go on in another process."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import httpx

from tests.clients import javascript
from tests.clients.javascript import BESIDE, SDK


@contextmanager
def example(name: str, *args: str, base_url: str, key: str) -> Iterator["subprocess.Popen[str]"]:
    """A process of its own, killed at the end if it still runs."""
    command = [BESIDE, f"examples/{name}.mjs", *args]
    surroundings = javascript.environment(base_url, key)
    with subprocess.Popen(command, cwd=SDK, env=surroundings, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def lines_of(process: Any, count: int) -> list[str]:
    return [process.stdout.readline().strip() for _ in range(count)]


def states_of(api: httpx.Client, workflow: str) -> list[Any]:
    shown = api.get(f"/workflows/{workflow}/replay", params={"limit": 1000}).json()["checkpoints"]
    assert [one["step"] for one in shown] == list(range(1, len(shown) + 1))
    return [one["state"] for one in shown]


def test_an_agent_that_is_killed_goes_on_where_it_was(base_url: str, key: str, api: httpx.Client) -> None:
    with example("basic-agent", "run", "700", base_url=base_url, key=key) as first:
        assert lines_of(first, 3) == ["begun", "step 1: 3 words", "step 2: 7 words"]
    said = javascript.run("examples/basic-agent.mjs", "run", "1", base_url=base_url, key=key).splitlines()
    resumed = re.fullmatch(r"resumed at step (\d)", said[0])
    assert resumed is not None
    assert int(resumed[1]) in (2, 3, 4)  # it may have saved more before it was killed
    assert said[-1] == 'done: {"counts":[3,4,3,3,3],"total":16}'
    assert [len(state["counts"]) for state in states_of(api, "run")] == [1, 2, 3, 4, 5]
    assert api.get("/workflows/run/resume").json()["status"] == "completed"
    assert "done" in javascript.run("examples/basic-agent.mjs", "run", base_url=base_url, key=key)


def test_two_agents_share_a_board_and_lose_nothing_when_they_are_killed(
    base_url: str, key: str, api: httpx.Client
) -> None:
    with example("multi-agent", "board", base_url=base_url, key=key) as first:
        assert all(re.fullmatch(r"(ada|blaise): \d+ \* \d+ = \d+", line) for line in lines_of(first, 2))
    said = javascript.run("examples/multi-agent.mjs", "board", "1", base_url=base_url, key=key).splitlines()
    answers = "7 * 6 = 42, 12 * 12 = 144, 9 * 9 = 81, 20 * 20 = 400, 3 * 3 = 9, 11 * 5 = 55"
    assert said[-1] == f"completed: {answers}"
    answered = [
        {question["text"]: question["answer"] for question in state["questions"] if question["answer"] is not None}
        for state in states_of(api, "board")
    ]
    assert all(before.items() <= after.items() for before, after in pairwise(answered))
    assert {agent["agent_id"] for agent in api.get("/agents").json()["agents"]} == {"ada", "blaise"}
