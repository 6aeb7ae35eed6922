"""Whatever is done to it, the saver answers as LangGraph's own saver in memory does: random acts, the same on both."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver
from snapstate_sdk import SnapStateClient
from snapstate_sdk.adapters.langgraph import SnapStateSaver

from tests.clients.threads import checkpoint, config

PLACES = [("one", ""), ("one", "in:1"), ("two", "")]
VALUES: list[Any] = [None, 0, 1.5, "text", [1, {"a": None}], {"b": [True]}, b"bytes", (1, 2), {3: "odd"}]
CHANNELS = ["a", "b", "__error__", "__interrupt__", "__resume__"]


class Both:
    """Does the same to both, and keeps in mind which checkpoints there are."""

    def __init__(self, saver: SnapStateSaver, other: SnapStateSaver, seed: int) -> None:
        self.random = random.Random(seed)
        self.ours, self.memory = [saver, other], InMemorySaver()
        self.known: dict[tuple[str, str], list[str]] = {place: [] for place in PLACES}

    def savers(self) -> tuple[BaseCheckpointSaver[Any], InMemorySaver]:
        """Ours is one of two, as if two processes took turns."""
        return self.random.choice(self.ours), self.memory

    def put(self) -> None:
        place = self.random.choice(PLACES)
        parent = self.random.choice([*self.known[place], None])
        made = checkpoint(**{name: self.random.choice(VALUES) for name in self.random.sample("xyz", 2)})
        made["channel_versions"] = {name: f"{made['id']}.{name}" for name in made["channel_values"]}
        metadata: Any = {"source": self.random.choice(["loop", "input"]), "step": len(self.known[place])}
        for saver in self.savers():
            saver.put(config(*place, parent), made, metadata, made["channel_versions"])
        self.known[place].append(made["id"])

    def put_writes(self) -> None:
        place = self.random.choice([place for place in PLACES if self.known[place]] or PLACES)
        writes = [(self.random.choice(CHANNELS), self.random.choice(VALUES)) for _ in range(self.random.randint(1, 3))]
        task = (f"task-{self.random.randint(0, 2)}", self.random.choice(["", "path"]))
        at = config(*place, self.random.choice(self.known[place] or ["unknown"]))
        for saver in self.savers():
            saver.put_writes(at, writes, *task)

    def compare(self) -> None:
        place = self.random.choice(PLACES)
        ours, memory = self.savers()
        some = self.random.choice([*self.known[place], None])
        assert told(ours.get_tuple(config(*place, some))) == told(memory.get_tuple(config(*place, some)))
        narrowed: Any = {
            "filter": self.random.choice([None, {"source": "loop"}, {"source": "input", "step": 3}]),
            "before": self.random.choice([None, config(*place, some)]),
            "limit": self.random.choice([None, 0, 1, 4]),
        }
        listed = [[told(found) for found in saver.list(config(*place), **narrowed)] for saver in (ours, memory)]
        assert listed[0] == listed[1]


def told(found: CheckpointTuple | None) -> Any:
    """All of it, by kinds too: JSON must make no float of an int."""
    if found is None:
        return None
    parent = found.parent_config and found.parent_config["configurable"]["checkpoint_id"]
    values = sorted((name, repr(value)) for name, value in found.checkpoint["channel_values"].items())
    rest = {name: value for name, value in found.checkpoint.items() if name != "channel_values"}
    return found.checkpoint["id"], parent, values, rest, found.metadata, repr(found.pending_writes)


@pytest.fixture
def client(base_url: str, key: str) -> Iterator[SnapStateClient]:
    with SnapStateClient(key, base_url) as opened:
        yield opened


@pytest.mark.parametrize("seed", range(4))
def test_both_answer_the_same(client: SnapStateClient, seed: int) -> None:
    both = Both(SnapStateSaver(client), SnapStateSaver(client), seed)
    acts = [both.put, both.put, both.put_writes, both.put_writes, both.compare, both.compare]
    for _ in range(120):
        both.random.choice(acts)()
    assert sum(map(len, both.known.values())) > 20
