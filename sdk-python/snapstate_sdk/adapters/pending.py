"""LangGraph's pending writes, in a workflow of their own: a step for each call that put some, never replaced."""

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any
from uuid import uuid4

from langgraph.checkpoint.base import WRITES_IDX_MAP, PendingWrite, writes_sort_key

from snapstate_sdk.adapters.calling import Plan
from snapstate_sdk.adapters.packing import Packing
from snapstate_sdk.adapters.places import Place
from snapstate_sdk.adapters.records import Records, label_of, replay
from snapstate_sdk.adapters.shares import shares
from snapstate_sdk.errors import PayloadTooLargeError
from snapstate_sdk.models import Checkpoint


def put(
    records: Records, packing: Packing, place: Place, checkpoint_id: str, task: tuple[str, str], writes: Sequence[Any]
) -> Plan[None]:
    """`task` is its id and path. Writes of one call share a step, or take more when one would not hold them; then each
    names the call and how many `steps` it has, for a task counts as done by whatever writes it has."""
    task_id, task_path = task
    entries = [
        {"index": WRITES_IDX_MAP.get(channel, index), "channel": channel, "value": packing.pack(value)}
        for index, (channel, value) in enumerate(writes)
    ]
    metadata = {"kind": "langgraph.writes", "thread_id": place.thread_id, "checkpoint_ns": place.namespace}
    parts = list(shares(entries))
    of_call = {"call": uuid4().hex, "steps": len(parts)} if len(parts) > 1 else {}
    for part in parts:
        state = {"task_id": task_id, "task_path": task_path, "writes": part, **of_call}
        try:
            yield from records.append(
                place, place.writes, state=state, label=label_of(checkpoint_id), metadata=metadata
            )
        except PayloadTooLargeError as error:
            error.add_note(f"a write of task {task_id}: each may have 1 MiB; keep large values elsewhere")
            raise


def of(packing: Packing, place: Place, checkpoint_id: str) -> Plan[list[PendingWrite]]:
    return folded(packing, (yield from replay(place.writes, label=label_of(checkpoint_id))))


def folded(packing: Packing, records: Iterable[Checkpoint]) -> list[PendingWrite]:
    """In the order a run applies them. Of a task's ordinary write the first counts, of a special one the last."""
    kept: dict[tuple[str, int], tuple[Any, PendingWrite]] = {}
    for record in _whole(list(records)):
        task_id, task_path = record.state["task_id"], record.state["task_path"]
        for write in record.state["writes"]:
            key = (task_id, write["index"])
            if write["index"] < 0 or key not in kept:
                value = packing.unpack(write["value"])
                kept[key] = (writes_sort_key(task_path, *key), (task_id, write["channel"], value))
    return [write for _, write in sorted(kept.values(), key=itemgetter(0))]


def _whole(records: list[Checkpoint]) -> list[Checkpoint]:
    """Without the steps of calls that were cut short or refused half-way."""
    there = Counter(record.state.get("call") for record in records)
    return [record for record in records if there[record.state.get("call")] >= record.state.get("steps", 1)]
