"""A conversation with an agent of OpenAI's SDK that outlives its process: run it again with the same name, it goes on.

    SNAPSTATE_API_URL=http://127.0.0.1:8000 SNAPSTATE_API_KEY=snp_… python openai_agents_session.py chat-1 "I like tea."

Its model is a stand-in that needs no key of OpenAI's: leave `model=` out to talk with a real one.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Runner, set_tracing_disabled
from agents.items import ModelResponse, TResponseStreamEvent
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from snapstate_sdk import SnapStateClient
from snapstate_sdk.adapters.openai_agents import SnapStateSession


class Remembering(Model):
    """Says what it was told so far."""

    async def get_response(self, *_: Any, input: Any, **__: Any) -> ModelResponse:  # type: ignore[override]  # noqa: A002
        told = [item["content"] for item in input if item.get("role") == "user"]
        text = ResponseOutputText(annotations=[], text=f"You told me: {' '.join(told)}", type="output_text")
        said = ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError


async def main(name: str, words: str) -> None:
    set_tracing_disabled(True)  # traces would go to OpenAI
    agent = Agent(name="listener", model=Remembering())
    async with SnapStateClient() as client:
        session = SnapStateSession(name, client, agent_id="example.listener")
        answer = await Runner.run(agent, words, session=session)
        print(answer.final_output)
        print(f"{len(await session.get_items())} items in {session.workflow_id}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
