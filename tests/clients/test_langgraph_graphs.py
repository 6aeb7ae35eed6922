"""Real graphs on the saver: people are asked, history is gone back to, there are subgraphs, deltas and secrets."""

import asyncio
import operator
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, TypedDict

import httpx2
import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from snapstate_sdk import SnapStateClient
from snapstate_sdk.adapters.langgraph import SnapStateSaver

Config = Any


class Notes(TypedDict):
    notes: Annotated[list[str], operator.add]


def joined(state: list[str], writes: list[list[str]]) -> list[str]:
    return [*state, *(note for write in writes for note in write)]


class DeltaNotes(TypedDict):
    notes: Annotated[list[str], DeltaChannel(joined, snapshot_frequency=3)]


class Veiled:
    """No cipher for real use: it only makes bytes unlike what they were."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return "veil", bytes(byte ^ 0x5A for byte in plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        assert ciphername == "veil"
        return self.encrypt(ciphertext)[1]


@pytest.fixture
def client(base_url: str, key: str) -> Iterator[SnapStateClient]:
    with SnapStateClient(key, base_url) as opened:
        yield opened


@pytest.fixture
def saver(client: SnapStateClient) -> SnapStateSaver:
    return SnapStateSaver(client)


def config(thread: str = "thread") -> Config:
    return {"configurable": {"thread_id": thread}}


def note(text: str) -> Any:
    return lambda _: {"notes": [text]}


def chain(saver: SnapStateSaver, state: Any, **nodes: Any) -> Any:
    builder = StateGraph(state)
    before = START
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    builder.add_edge(before, END)
    return builder.compile(checkpointer=saver)


def asking(saver: SnapStateSaver) -> Any:
    return chain(saver, Notes, before=note("asked"), ask=lambda _: {"notes": [interrupt("may I?")]}, after=note("done"))


def test_a_graph_that_asks_is_answered_by_another_client(base_url: str, key: str, saver: SnapStateSaver) -> None:
    asked = asking(saver).invoke({"notes": []}, config())
    assert asked["__interrupt__"][0].value == "may I?"
    with SnapStateClient(key, base_url) as other:
        graph = asking(SnapStateSaver(other))
        assert graph.get_state(config()).next == ("ask",)
        assert graph.invoke(Command(resume="you may"), config()) == {"notes": ["asked", "you may", "done"]}
        assert graph.get_state(config()).next == ()


def test_and_the_same_with_asyncio(base_url: str, key: str) -> None:
    async def ask_and_answer() -> Any:
        async with SnapStateClient(key, base_url) as first:
            asked = await asking(SnapStateSaver(first)).ainvoke({"notes": []}, config())
        async with SnapStateClient(key, base_url) as second:
            return asked, await asking(SnapStateSaver(second)).ainvoke(Command(resume="you may"), config())

    asked, answered = asyncio.run(ask_and_answer())
    assert asked["__interrupt__"][0].value == "may I?"
    assert answered == {"notes": ["asked", "you may", "done"]}


def test_a_run_from_an_earlier_checkpoint_becomes_the_newest_and_the_old_one_stays(saver: SnapStateSaver) -> None:
    graph = chain(saver, Notes, one=note("one"), two=note("two"))
    graph.invoke({"notes": []}, config())
    states = list(graph.get_state_history(config()))
    earlier = next(state for state in states if state.next == ("two",))
    fork = graph.update_state(earlier.config, {"notes": ["changed"]})
    assert graph.invoke(None, fork) == {"notes": ["one", "changed", "two"]}
    assert graph.get_state(config()).values == {"notes": ["one", "changed", "two"]}
    assert graph.get_state(states[0].config).values == {"notes": ["one", "two"]}
    ids = [state.config["configurable"]["checkpoint_id"] for state in graph.get_state_history(config())]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == len(states) + 2


def test_twenty_tasks_side_by_side_lose_no_write(saver: SnapStateSaver) -> None:
    builder = StateGraph(Notes)
    builder.add_node("many", lambda sent: {"notes": [sent["name"]]})
    builder.add_conditional_edges(START, lambda _: [Send("many", {"name": f"{n:02}"}) for n in range(20)], ["many"])
    builder.add_node("fails", lambda _: 1 / 0)
    builder.add_edge("many", "fails")
    graph = builder.compile(checkpointer=saver)
    with pytest.raises(ZeroDivisionError):
        graph.invoke({"notes": []}, config(), durability="sync")
    assert graph.get_state(config()).values["notes"] == [f"{n:02}" for n in range(20)]


def test_a_subgraph_is_kept_in_a_namespace_of_its_own_and_goes_with_its_thread(
    client: SnapStateClient, saver: SnapStateSaver
) -> None:
    inner = chain(None, Notes, ask=lambda _: {"notes": [interrupt("inside?")]})  # type: ignore[arg-type]
    graph = chain(saver, Notes, outer=note("outer"), inner=inner)
    graph.invoke({"notes": []}, config())
    assert graph.get_state(config(), subgraphs=True).tasks[0].state.next == ("ask",)
    namespaces = {found.config["configurable"]["checkpoint_ns"] for found in saver.list(config())}
    assert {name.partition(":")[0] for name in namespaces} == {"", "inner"}
    saver.delete_thread("thread")
    assert list(saver.list(config())) == []
    for name in namespaces:
        for workflow in saver.workflow_ids("thread", name):
            assert client.replay(workflow).checkpoints == []


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_delta_channels_are_built_up_again_also_after_a_prune(saver: SnapStateSaver, rounds: int) -> None:
    graph = chain(saver, DeltaNotes, one=note("1"), two=note("2"))
    for _ in range(rounds):
        graph.invoke({"notes": ["in"]}, config())
    expected = {"notes": ["in", "1", "2"] * rounds}
    assert graph.get_state(config()).values == expected
    assert asyncio.run(async_state(saver)) == expected
    walked = BaseCheckpointSaver.get_delta_channel_history(saver, config=config(), channels=["notes", "none"])
    assert saver.get_delta_channel_history(config=config(), channels=["notes", "none"]) == walked
    before = len(list(saver.list(config())))
    saver.prune(["thread"])
    assert len(list(saver.list(config()))) <= min(before, 6)
    assert graph.get_state(config()).values == expected
    assert graph.invoke({"notes": []}, config()) == {"notes": [*expected["notes"], "1", "2"]}


async def async_state(saver: SnapStateSaver) -> Any:
    async with SnapStateClient(saver.client.connection.headers["Authorization"][7:], saver.client.base_url) as client:
        graph = chain(SnapStateSaver(client), DeltaNotes, one=note("1"), two=note("2"))
        return (await graph.aget_state(config())).values


def test_with_an_encrypted_serializer_the_server_sees_no_value(client: SnapStateClient) -> None:
    saver = SnapStateSaver(client, serde=EncryptedSerializer(Veiled()))
    graph = chain(saver, Notes, one=note("a very private thing"))
    assert graph.invoke({"notes": []}, config()) == {"notes": ["a very private thing"]}
    assert graph.get_state(config()).values == {"notes": ["a very private thing"]}
    for workflow in saver.workflow_ids("thread"):
        kept = client.replay(workflow).checkpoints
        assert kept
        assert "private" not in "".join(record.state_json or "" for record in kept)


def test_what_json_can_say_stands_there_to_read(client: SnapStateClient, saver: SnapStateSaver) -> None:
    chain(saver, Notes, one=note("readable")).invoke({"notes": []}, config())
    checkpoints, _ = saver.workflow_ids("thread")
    latest = client.resume(checkpoints).latest_checkpoint
    assert latest.state["channel_values"]["notes"] == ["readable"]
    assert latest.metadata["thread_id"] == "thread"
    assert latest.label == latest.state["checkpoint"]["id"]


class Counting(httpx2.HTTPTransport):
    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        asked = request.url.path.rpartition("~")[2]  # such as writes/replay, or what is no workflow's
        self.calls[f"{request.method} {asked}"] += 1
        return super().handle_request(request)


def test_a_run_costs_a_call_for_each_checkpoint_and_task_and_three_to_begin(base_url: str, key: str) -> None:
    counting = Counting()
    for _ in range(2):
        with SnapStateClient(key, base_url, transport=counting) as client:
            graph = chain(SnapStateSaver(client), Notes, one=note("1"), two=note("2"))
            graph.invoke({"notes": []}, config(), durability="sync")
    assert counting.calls.pop("GET writes") in (2, 3)  # two tasks that end at once may both look for the first time
    begun = {"GET checkpoints/resume": 2, "GET checkpoints": 1, "GET writes/replay": 1}
    assert counting.calls == {**begun, "POST /checkpoints": 2 * (4 + 3)}
