"""A LangGraph agent that can be killed at any moment: run it again with the same thread, and it goes on.

    SNAPSTATE_API_URL=http://127.0.0.1:8000 SNAPSTATE_API_KEY=snp_… python langgraph_agent.py tides

It stops before it publishes, for somebody to agree: run it again with `yes` or `no` behind the thread.
"""

import operator
import sys
from typing import Annotated, Any, TypedDict

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from snapstate_sdk import SnapStateClient
from snapstate_sdk.adapters.langgraph import SnapStateSaver


class Report(TypedDict):
    topic: str
    notes: Annotated[list[str], operator.add]
    published: bool


def search(state: Report) -> dict[str, Any]:
    return {"notes": [f"found three papers on {state['topic']}"]}


def read(state: Report) -> dict[str, Any]:
    return {"notes": [f"read them: {len(state['notes'])} note before this one"]}


def publish(state: Report) -> dict[str, Any]:
    answer = interrupt(f"Publish {len(state['notes'])} notes on {state['topic']}?")
    return {"published": answer == "yes"}


def agent(saver: SnapStateSaver) -> Any:
    builder = StateGraph(Report)
    builder.add_node("search", search)
    builder.add_node("read", read)
    builder.add_node("publish", publish)
    builder.add_edge(START, "search")
    builder.add_edge("search", "read")
    builder.add_edge("read", "publish")
    return builder.compile(checkpointer=saver)


def main(thread: str, answer: str | None = None) -> None:
    with SnapStateClient() as client:
        graph = agent(SnapStateSaver(client, agent_id="example.langgraph"))
        config: RunnableConfig = {"configurable": {"thread_id": thread}}
        begun = graph.get_state(config).created_at is not None
        given: Any = Command(resume=answer) if answer else None if begun else {"topic": thread, "notes": []}
        # "sync": the next node begins when the checkpoint is safe; by default it is saved meanwhile.
        for step in graph.stream(given, config, stream_mode="updates", durability="sync"):
            print(*step, flush=True)
        report = graph.get_state(config)
        print(report.interrupts[0].value if report.interrupts else f"published: {report.values['published']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
