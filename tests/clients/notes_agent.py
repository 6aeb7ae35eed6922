"""An agent of OpenAI's SDK with a scripted model: `python -m tests.clients.notes_agent URL KEY SESSION FOLDER`.

The model asks for four notes, one a turn, judging by the history it is shown, and then says what it has. A note says
its number, waits until FOLDER has a gate of that number, and only then has its effect: a line in a file.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.items import ModelResponse, TResponseStreamEvent
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from snapstate_sdk import SnapStateClient
from snapstate_sdk.adapters.openai_agents import SnapStateSession

NOTES = 4


def said(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(annotations=[], text=text, type="output_text")
    return ResponseOutputMessage(id="said", content=[content], role="assistant", status="completed", type="message")


def asked(number: int) -> ResponseFunctionToolCall:
    arguments = json.dumps({"number": number})
    return ResponseFunctionToolCall(arguments=arguments, call_id=f"call-{number}", name="note", type="function_call")


class Scripted(Model):
    """`shown` is every input it was given."""

    def __init__(self) -> None:
        self.shown: list[list[Any]] = []

    async def get_response(self, *_: Any, input: Any, **__: Any) -> ModelResponse:  # type: ignore[override]  # noqa: A002
        self.shown.append(input)
        notes = [str(item["output"]) for item in input if item.get("type") == "function_call_output"]
        answer = said(" ".join(notes)) if len(notes) == NOTES else asked(len(notes) + 1)
        return ModelResponse(output=[answer], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError


def agent(model: Model, folder: Path) -> Agent[Any]:
    @function_tool
    async def note(number: int) -> str:
        """Take a note."""
        print(number, flush=True)
        while not (folder / str(number)).exists():  # noqa: ASYNC110 - the gate is another process's
            await asyncio.sleep(0.02)
        with (folder / "effects").open("a") as effects:
            effects.write(f"{number}\n")
        return f"note-{number}"

    set_tracing_disabled(True)
    return Agent(name="notes", model=model, tools=[note])


async def main(base_url: str, key: str, session_id: str, folder: str) -> None:
    """Prints what the agent says last; goes on where the session is."""
    async with SnapStateClient(key, base_url) as client:
        session = SnapStateSession(session_id, client)
        begun = await session.get_items(limit=1)
        ended = await Runner.run(agent(Scripted(), Path(folder)), [] if begun else "take notes", session=session)
        print(ended.final_output, flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
