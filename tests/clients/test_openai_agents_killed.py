"""A real Runner killed in the middle and gone on with in another process, and one that talks on through many turns."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents import Runner
from snapstate_sdk import SnapStateClient
from snapstate_sdk.adapters.openai_agents import SnapStateSession

from snapstate_project.dev.home import BASE_DIR
from tests.clients.notes_agent import Scripted, agent

WHOLE = "note-1 note-2 note-3 note-4"


@contextmanager
def process(*arguments: str) -> Iterator[Any]:
    command = [sys.executable, "-m", "tests.clients.notes_agent", *arguments]
    with subprocess.Popen(command, cwd=BASE_DIR, stdout=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


def lines(running: Any, count: int) -> list[str]:
    return [running.stdout.readline().strip() for _ in range(count)]


def open_gates(folder: Path, *numbers: int) -> None:
    for number in numbers:
        (folder / str(number)).touch()


def history(base_url: str, key: str, session_id: str) -> list[Any]:
    async def read() -> list[Any]:
        async with SnapStateClient(key, base_url) as client:
            return list(await SnapStateSession(session_id, client).get_items())

    return asyncio.run(read())


def kinds(items: list[Any]) -> list[str]:
    return [item.get("type") or item["role"] for item in items]


def test_an_agent_killed_in_the_middle_goes_on_with_its_history(base_url: str, key: str, tmp_path: Path) -> None:
    open_gates(tmp_path, 1, 2)
    with process(base_url, key, "chat", str(tmp_path)) as first:
        assert lines(first, 3) == ["1", "2", "3"]
        first.kill()
    pair = ["function_call", "function_call_output"]
    before = history(base_url, key, "chat")
    assert kinds(before) == ["user", *pair, *pair]
    open_gates(tmp_path, 3, 4)
    with process(base_url, key, "chat", str(tmp_path)) as second:
        assert lines(second, 3) == ["3", "4", WHOLE]
        assert second.wait(60) == 0
    after = history(base_url, key, "chat")
    assert after[: len(before)] == before
    assert kinds(after) == ["user", *pair * 4, "message"]
    assert (tmp_path / "effects").read_text().split() == ["1", "2", "3", "4"]


def test_a_runner_shows_its_model_the_whole_session(base_url: str, key: str, tmp_path: Path) -> None:
    open_gates(tmp_path, 1, 2, 3, 4)

    async def talk() -> tuple[str, list[Any], list[Any]]:
        model = Scripted()
        async with SnapStateClient(key, base_url) as client:
            session = SnapStateSession("talk", client)
            await Runner.run(agent(model, tmp_path), "first", session=session)
            again = await Runner.run(agent(model, tmp_path), "second", session=session)
            return again.final_output, model.shown[-1], await session.get_items()

    said, shown, kept = asyncio.run(talk())
    assert said == WHOLE
    assert kinds(shown) == kinds(kept[:-1])
    assert kept[-2]["content"] == "second"
