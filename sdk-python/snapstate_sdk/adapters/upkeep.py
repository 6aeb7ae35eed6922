"""What is done to whole threads: erased, pruned to what the newest checkpoints need, copied as they are."""

from collections.abc import Sequence

from snapstate_sdk.adapters import checkpoints
from snapstate_sdk.adapters.calling import Plan, ask
from snapstate_sdk.adapters.packing import Packing
from snapstate_sdk.adapters.places import Place, head_from, head_of
from snapstate_sdk.adapters.records import TRIES, Records, at_steps, outline
from snapstate_sdk.adapters.threads import AT_ONCE, places
from snapstate_sdk.calls.of_workflows import resume
from snapstate_sdk.errors import ConflictError, NotFoundError

KEEP_LATEST, DELETE = "keep_latest", "delete"


def erase(records: Records, prefix: str, thread_id: str) -> Plan[None]:
    """The list of namespaces goes last: what was cut short can be done again."""
    for place in (yield from places(prefix, thread_id)):
        yield from records.erase(place.checkpoints)
        yield from records.erase(place.writes)
    yield from records.erase(Place(prefix, thread_id, "").namespaces)


def prune(records: Records, packing: Packing, prefix: str, threads: Sequence[str], strategy: str) -> Plan[None]:
    if strategy not in (KEEP_LATEST, DELETE):
        raise ValueError(f"strategy: {KEEP_LATEST!r} or {DELETE!r}, not {strategy!r}")
    for thread_id in threads:
        if strategy == DELETE:
            yield from erase(records, prefix, thread_id)
            continue
        for place in (yield from places(prefix, thread_id)):
            yield from _keep_latest(records, packing, place)


def _keep_latest(records: Records, packing: Packing, place: Place) -> Plan[None]:
    """The head is replaced by itself and the number of the first step that counts, under its etag."""
    for _ in range(TRIES):
        try:
            resumed = yield from ask(resume(place.checkpoints))
        except NotFoundError:
            return
        head = resumed.latest_checkpoint
        first = yield from _first_needed(records, packing, place)
        if first is None or first <= head.metadata.get("first", 0):
            return
        metadata = {**head.metadata, "first": first}
        same = {"state_json": head.state_json, "label": head.label, "metadata": metadata}
        try:
            saved = yield from records.save(place.checkpoints, head.step, **same, if_match=head.etag)
        except ConflictError:
            continue
        records.heads.put(place.checkpoints, head_from(head.step, saved.etag, head.label, metadata))
        return
    raise ConflictError(f"{place.checkpoints}: others were quicker {TRIES} times")


def _first_needed(records: Records, packing: Packing, place: Place) -> Plan[int | None]:
    """The newest checkpoint's step, or that of the ancestor from which its delta channels are built up again."""
    record = yield from checkpoints.newest(records, place)
    if record is None:
        return None
    first = record.step
    found = checkpoints.tuple_of(packing, place, record, [])
    missing = set(found.metadata.get("counters_since_delta_snapshot") or ())
    while missing and record.metadata.get("parent"):
        record = yield from checkpoints.by_id(place, record.metadata["parent"])
        if record is None:
            break
        missing -= record.state["channel_values"].keys()
        first = min(first, record.step)
    return first


def copy(records: Records, prefix: str, source: str, target: str) -> Plan[None]:
    """Step by step at the same numbers, heads last: cut short, it can be done again, and overwrites nothing."""
    for place in (yield from places(prefix, source)):
        there = Place(prefix, target, place.namespace)
        head = yield from head_of(place.checkpoints)
        if head is not None:
            yield from records.register(there)
            yield from _copy_steps(records, place.writes, there.writes, 0, target)
            yield from _copy_steps(records, place.checkpoints, there.checkpoints, head.first, target)


def _copy_steps(records: Records, workflow: str, there: str, first: int, thread_id: str) -> Plan[None]:
    steps = [record.step for record in (yield from outline(workflow, first))]
    for start in range(0, len(steps), AT_ONCE):
        for step, record in (yield from at_steps(workflow, steps[start : start + AT_ONCE])).items():
            metadata = {**record.metadata, "thread_id": thread_id}
            yield from records.save(there, step, state_json=record.state_json, label=record.label, metadata=metadata)
