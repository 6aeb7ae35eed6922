"""However LangGraph is told to save (each step, meanwhile, at the end), a graph that stops goes on as it was."""

import operator
from collections.abc import Iterator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from snapstate_sdk import SnapStateClient
from snapstate_sdk.adapters.langgraph import SnapStateSaver


def joined(state: list[str], writes: list[list[str]]) -> list[str]:
    return [*state, *(note for write in writes for note in write)]


class Plain(TypedDict):
    notes: Annotated[list[str], operator.add]


class Deltas(TypedDict):
    notes: Annotated[list[str], DeltaChannel(joined, snapshot_frequency=4)]


@pytest.fixture
def clients(base_url: str, key: str) -> Iterator[list[SnapStateClient]]:
    with SnapStateClient(key, base_url) as one, SnapStateClient(key, base_url) as other:
        yield [one, other]


def graph(client: SnapStateClient, state: Any) -> Any:
    """Two side by side, one that asks, one more."""
    builder: Any = StateGraph(state)
    builder.add_node("left", lambda _: {"notes": ["left"]})
    builder.add_node("right", lambda _: {"notes": ["right"]})
    builder.add_node("ask", lambda _: {"notes": [interrupt("may I?")]})
    builder.add_node("last", lambda _: {"notes": ["last"]})
    for before, after in [
        (START, "left"),
        (START, "right"),
        (["left", "right"], "ask"),
        ("ask", "last"),
        ("last", END),
    ]:
        builder.add_edge(before, after)
    return builder.compile(checkpointer=SnapStateSaver(client))


@pytest.mark.parametrize("state", [Plain, Deltas])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_it_goes_on_elsewhere_with_the_same_state(clients: list[SnapStateClient], durability: Any, state: Any) -> None:
    config: Any = {"configurable": {"thread_id": "thread"}}
    expected: list[str] = []
    for turn in range(3):
        begun = graph(clients[turn % 2], state).invoke({"notes": [f"in {turn}"]}, config, durability=durability)
        expected += [f"in {turn}", "left", "right"]
        assert begun["notes"] == expected
        other = graph(clients[(turn + 1) % 2], state)
        assert other.get_state(config).next == ("ask",)
        ended = other.invoke(Command(resume=f"yes {turn}"), config, durability=durability)
        expected += [f"yes {turn}", "last"]
        assert ended["notes"] == other.get_state(config).values["notes"] == expected
