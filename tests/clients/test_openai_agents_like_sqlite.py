"""Whatever is done to it, the session answers as the Agents SDK's own on SQLite does: random acts, the same on both."""

import asyncio
import random
from typing import Any

import pytest
from agents import SQLiteSession
from snapstate_sdk import SnapStateClient
from snapstate_sdk.adapters.openai_agents import SnapStateSession

WORDS = ["a", "b", "ünï 🤖", "", "x" * 1000, "\x00"]


def item(chance: random.Random) -> Any:
    text = chance.choice(WORDS)
    call = {"type": "function_call_output", "call_id": text, "output": [{"type": "input_text", "text": text}]}
    return chance.choice([{"role": "user", "content": text}, call])


async def act(chance: random.Random, sessions: list[Any]) -> list[Any]:
    """One act, on both; what each answered. Of ours there are two, as if two processes took turns."""
    ours, theirs = chance.choice(sessions[:2]), sessions[2]
    kind = chance.choices(["add", "pop", "get", "clear"], [8, 5, 5, 0.3])[0]
    if kind == "add":
        items = [item(chance) for _ in range(chance.randint(0, 4))]
        return [await session.add_items(items) for session in (ours, theirs)]
    if kind == "get":
        limit = chance.choice([None, 0, 1, 3, 50])
        return [await session.get_items(limit) for session in (ours, theirs)]
    if kind == "pop":
        return [await session.pop_item() for session in (ours, theirs)]
    return [await session.clear_session() for session in (ours, theirs)]


@pytest.mark.parametrize("seed", range(3))
def test_both_answer_the_same(base_url: str, key: str, seed: int) -> None:
    async def compare() -> None:
        chance, theirs = random.Random(seed), SQLiteSession("chat")
        async with SnapStateClient(key, base_url) as client:
            sessions: list[Any] = [SnapStateSession("chat", client), SnapStateSession("chat", client), theirs]
            for _ in range(150):
                ours, expected = await act(chance, sessions)
                assert ours == expected
            assert await sessions[0].get_items() == await theirs.get_items()
        theirs.close()

    asyncio.run(compare())
