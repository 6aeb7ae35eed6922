"""What a thread holds: its namespaces, and the checkpoints of each, newest first, with their pending writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple, PendingWrite

from snapstate_sdk.adapters import pending
from snapstate_sdk.adapters.calling import Plan, Stream, ask
from snapstate_sdk.adapters.checkpoints import KIND, tuple_of
from snapstate_sdk.adapters.packing import Packing
from snapstate_sdk.adapters.places import Place, head_of
from snapstate_sdk.adapters.records import at_steps, index, label_of, replay
from snapstate_sdk.calls.of_workflows import list_workflows
from snapstate_sdk.models import Checkpoint

AT_ONCE = 20  # states that are read ahead


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list is narrowed to. `few`: how many the caller will take, None when it may be all."""

    checkpoint_id: str | None
    before: str | None
    filter: dict[str, Any]
    few: int | None

    def has(self, label: str) -> bool:
        is_it = self.checkpoint_id is None or label == label_of(self.checkpoint_id)
        return is_it and (self.before is None or label < label_of(self.before))

    def matches(self, found: CheckpointTuple) -> bool:
        return all(found.metadata.get(key) == value for key, value in self.filter.items())

    @property
    def at_once(self) -> int:
        return AT_ONCE if self.few is None or self.filter else max(1, min(AT_ONCE, self.few))


def places(prefix: str, thread_id: str) -> Plan[list[Place]]:
    """The root, and every namespace that was ever saved to."""
    root = Place(prefix, thread_id, "")
    recorded = yield from replay(root.namespaces)
    names = dict.fromkeys(record.state["checkpoint_ns"] for record in recorded)
    return [root, *(Place(prefix, thread_id, name) for name in names)]


def every_place(prefix: str) -> Plan[list[Place]]:
    """Of all threads, by the server's list of workflows: what began in the last two seconds may be missing."""
    found: list[Place] = []
    cursor: str | None = None
    while True:
        page = yield from ask(list_workflows(q=f"{prefix}~", limit=200, cursor=cursor))
        kept = [summary.metadata for summary in page.workflows]
        found += [
            Place(prefix, metadata["thread_id"], metadata["checkpoint_ns"])
            for metadata in kept
            if metadata.get("kind") == KIND
        ]
        cursor = page.next_cursor
        if cursor is None:
            return found


def listed(prefix: str, packing: Packing, config: RunnableConfig | None, wanted: Wanted) -> Stream[CheckpointTuple]:
    for place in (yield from _searched(prefix, config)):
        yield from _in_place(packing, place, wanted)


def _searched(prefix: str, config: RunnableConfig | None) -> Plan[list[Place]]:
    if config is None:
        return (yield from every_place(prefix))
    thread_id, namespace = str(config["configurable"]["thread_id"]), config["configurable"].get("checkpoint_ns")
    if namespace is None:
        return (yield from places(prefix, thread_id))
    return [Place(prefix, thread_id, namespace)]


def _in_place(packing: Packing, place: Place, wanted: Wanted) -> Stream[CheckpointTuple]:
    """Labels first, then states by shares: a long history is never held whole."""
    head = yield from head_of(place.checkpoints)
    if head is None:
        return
    steps = yield from index(place.checkpoints, head.first)
    labels = sorted(filter(wanted.has, steps), reverse=True)
    written = yield from index(place.writes) if wanted.at_once > 1 and len(labels) > 1 else _nothing()
    for start in range(0, len(labels), wanted.at_once):
        share = labels[start : start + wanted.at_once]
        records = yield from at_steps(place.checkpoints, (steps[label][-1] for label in share))
        writes = yield from writes_of(packing, place, share, written)
        for label in share:
            record = records.get(steps[label][-1])  # None: pruned by the server a moment ago
            found = record and tuple_of(packing, place, record, writes[label])
            if found and wanted.matches(found):
                yield found


def _nothing() -> Plan[None]:
    yield from ()


def writes_of(
    packing: Packing, place: Place, labels: Sequence[str], written: dict[str, list[int]] | None
) -> Plan[dict[str, list[PendingWrite]]]:
    """Those of each label; of many labels by one range of steps."""
    if written is None:
        alone: dict[str, list[PendingWrite]] = {}
        for label in labels:
            alone[label] = yield from pending.of(packing, place, label)
        return alone
    steps = {label: written.get(label, []) for label in labels}
    found: dict[int, Checkpoint] = yield from at_steps(
        place.writes, (step for label in labels for step in steps[label])
    )
    return {label: pending.folded(packing, [found[step] for step in steps[label] if step in found]) for label in labels}
