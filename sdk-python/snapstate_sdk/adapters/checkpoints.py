"""LangGraph's checkpoints as steps of a workflow: appended under the head's etag, found by label or by step."""

from typing import Any

from langgraph.checkpoint.base import Checkpoint as GraphCheckpoint
from langgraph.checkpoint.base import CheckpointMetadata, CheckpointTuple, PendingWrite

from snapstate_sdk.adapters.calling import Plan, ask
from snapstate_sdk.adapters.packing import Packing
from snapstate_sdk.adapters.places import Head, Place, head_from, head_of
from snapstate_sdk.adapters.records import TRIES, Records, label_of, replay
from snapstate_sdk.calls.of_workflows import resume
from snapstate_sdk.errors import ConflictError, NotFoundError, PayloadTooLargeError, SnapStateError
from snapstate_sdk.models import Checkpoint

KIND = "langgraph.checkpoint"
TOO_LARGE = "all channels together may have 1 MiB; keep large values elsewhere, and in the graph's state their address"


def state_of(packing: Packing, checkpoint: GraphCheckpoint, metadata: CheckpointMetadata) -> dict[str, Any]:
    rest = {name: value for name, value in checkpoint.items() if name != "channel_values"}
    values = {channel: packing.pack(value) for channel, value in checkpoint["channel_values"].items()}
    return {"checkpoint": packing.pack(rest), "channel_values": values, "metadata": packing.pack(dict(metadata))}


def tuple_of(packing: Packing, place: Place, record: Checkpoint, writes: list[PendingWrite]) -> CheckpointTuple:
    if record.metadata.get("kind") != KIND:
        raise SnapStateError(f"{record.checkpoint_id} is no checkpoint of LangGraph's: who else saves to its workflow?")
    values = {channel: packing.unpack(value) for channel, value in record.state["channel_values"].items()}
    checkpoint = {**packing.unpack(record.state["checkpoint"]), "channel_values": values}
    parent = record.metadata.get("parent")
    return CheckpointTuple(
        config=place.config(checkpoint["id"]),
        checkpoint=checkpoint,  # type: ignore[arg-type]
        metadata=packing.unpack(record.state["metadata"]),
        parent_config=place.config(parent) if parent else None,
        pending_writes=writes,
    )


def put(records: Records, place: Place, checkpoint_id: str, parent: str | None, state: dict[str, Any]) -> Plan[None]:
    """One step for it, though others append meanwhile; put again, it replaces itself or is found where it stands."""
    label = label_of(checkpoint_id)
    head = yield from records.head(place.checkpoints)
    for _ in range(TRIES):
        if head is None:
            yield from records.register(place)
        step = 0 if head is None else head.step if head.label == label else head.step + 1
        metadata = _metadata(place, checkpoint_id, parent, step, head)
        try:
            saved = yield from records.save(
                place.checkpoints, step, state=state, label=label, metadata=metadata, **_guard(head)
            )
        except ConflictError:
            records.heads.forget(place.checkpoints)
            if (yield from _stands_already(place, label, state)):
                return
            head = yield from head_of(place.checkpoints)
        except PayloadTooLargeError as error:
            error.add_note(f"checkpoint {checkpoint_id}: {TOO_LARGE}")
            raise
        else:
            records.heads.put(place.checkpoints, head_from(step, saved.etag, label, metadata))
            return
    raise ConflictError(f"{place.checkpoints}: others were quicker {TRIES} times")


def _guard(head: Head | None) -> dict[str, Any]:
    return {"if_none_match": "*"} if head is None else {"if_match": head.etag}


def _metadata(place: Place, checkpoint_id: str, parent: str | None, step: int, head: Head | None) -> dict[str, Any]:
    newest = {"id": checkpoint_id, "step": step}
    if head is not None and head.newest_id > checkpoint_id:
        newest = {"id": head.newest_id, "step": head.newest_step}
    named = {"kind": KIND, "thread_id": place.thread_id, "checkpoint_ns": place.namespace}
    return {**named, "parent": parent, "newest": newest, "first": head.first if head else 0}


def _stands_already(place: Place, label: str, state: dict[str, Any]) -> Plan[bool]:
    """An earlier try of ours may have been saved without our hearing of it."""
    found = yield from replay(place.checkpoints, label=label)
    return bool(found) and found[-1].state == state


def newest(records: Records, place: Place) -> Plan[Checkpoint | None]:
    """The one with the greatest id; that is the head but where clocks disagree."""
    try:
        resumed = yield from ask(resume(place.checkpoints, agent_id=records.options.get("agent_id")))
    except NotFoundError:
        return None
    latest = resumed.latest_checkpoint
    head = head_from(latest.step, latest.etag or "", latest.label, latest.metadata)
    records.heads.put(place.checkpoints, head)
    if head.newest_step == latest.step:
        return latest
    found = yield from replay(place.checkpoints, from_step=head.newest_step, to_step=head.newest_step)
    return found[0] if found else latest


def by_id(place: Place, checkpoint_id: str) -> Plan[Checkpoint | None]:
    """Of revisions put again at a later step, the last; nothing that was pruned."""
    head = yield from head_of(place.checkpoints)
    if head is None:
        return None
    found = yield from replay(place.checkpoints, label=label_of(checkpoint_id), from_step=head.first)
    return found[-1] if found else None


def wanted(records: Records, place: Place, checkpoint_id: str | None) -> Plan[Checkpoint | None]:
    return (yield from by_id(place, checkpoint_id) if checkpoint_id else newest(records, place))
