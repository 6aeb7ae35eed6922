"""Agents that share one board: whoever saves first has the task; nobody's work is lost when all of them are killed.

    export SNAPSTATE_API_KEY=snp_… SNAPSTATE_API_URL=http://127.0.0.1:8000
    python examples/multi_agent.py board-1 ~/papers ada grace

The board is a workflow. Each change of it is guarded by the etag of what it was made of, so of two agents that take the
same task one gets a ConflictError, and looks again.
"""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from snapstate_sdk import ConflictError, SnapStateClient

PAUSE_SECONDS = float(os.environ.get("PAUSE_SECONDS", "0"))  # as long as a real agent thinks
Board = dict[str, Any]


async def change(
    client: SnapStateClient, board_id: str, agent_id: str, label: str, make: Callable[[Board], Board | None]
) -> Board | None:
    """The board as `make` has changed it; None when it found nothing to change."""
    while True:
        async with client.async_workflow(board_id, agent_id=agent_id) as wf:
            board = make(wf.state)
            if board is None:
                return None
            try:
                await wf.checkpoint(label, board, status="active" if board["todo"] or board["doing"] else "completed")
            except ConflictError:
                continue  # another agent was faster: look at the board again
            return board


def plan(folder: str) -> Callable[[Board], Board | None]:
    def make(board: Board) -> Board | None:
        files = sorted(str(path) for path in Path(folder).iterdir() if path.is_file())
        return None if board else {"todo": files, "doing": {}, "done": {}}

    return make


def take(agent_id: str) -> Callable[[Board], Board | None]:
    def make(board: Board) -> Board | None:
        if agent_id in board["doing"] or not board["todo"]:
            return None  # it was killed at that task, and has it still
        task, *rest = board["todo"]
        return {**board, "todo": rest, "doing": {**board["doing"], agent_id: task}}

    return make


def hand_in(agent_id: str, result: Any) -> Callable[[Board], Board | None]:
    def make(board: Board) -> Board | None:
        doing = dict(board["doing"])
        task = doing.pop(agent_id)
        return {**board, "doing": doing, "done": {**board["done"], task: {"by": agent_id, "result": result}}}

    return make


async def look_at(path: str) -> dict[str, int]:
    """The work itself: the commonest words of a file."""
    await asyncio.sleep(PAUSE_SECONDS)
    text = await asyncio.to_thread(Path(path).read_text, errors="replace")
    return dict(Counter(text.lower().split()).most_common(5))


async def work(client: SnapStateClient, board_id: str, agent_id: str) -> None:
    await client.async_register_agent(agent_id, agent_id.title(), capabilities=["word_count"])
    while True:
        await change(client, board_id, agent_id, f"{agent_id} takes a task", take(agent_id))
        task = (await client.async_resume(board_id)).state["doing"].get(agent_id)
        if task is None:
            return
        await change(client, board_id, agent_id, f"{agent_id} hands in", hand_in(agent_id, await look_at(task)))
        print(f"{agent_id}: {task}", flush=True)


async def main(board_id: str, folder: str, agents: list[str]) -> None:
    async with SnapStateClient() as client:
        await change(client, board_id, "planner", "planned", plan(folder))
        await asyncio.gather(*[work(client, board_id, agent_id) for agent_id in agents])
        board = (await client.async_resume(board_id)).state
        print(f"done: {len(board['done'])} files, {dict(Counter(one['by'] for one in board['done'].values()))}")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
