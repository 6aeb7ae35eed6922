"""What LangGraph's delta channels are built up from: writes along the parents, back to the value they began with."""

from collections.abc import Sequence

from langgraph.checkpoint.base import DeltaChannelHistory, PendingWrite

from snapstate_sdk.adapters import checkpoints
from snapstate_sdk.adapters.calling import Plan
from snapstate_sdk.adapters.packing import Packing
from snapstate_sdk.adapters.places import Place
from snapstate_sdk.adapters.records import Records, at_steps, index, label_of, outline
from snapstate_sdk.adapters.threads import AT_ONCE, writes_of
from snapstate_sdk.models import Checkpoint

Histories = dict[str, DeltaChannelHistory]


def histories(
    records: Records, packing: Packing, place: Place, checkpoint_id: str | None, channels: Sequence[str]
) -> Plan[Histories]:
    """Of each channel its writes, oldest first, and as `seed` the value before them, if any was kept."""
    found: Histories = {channel: {"writes": []} for channel in channels}
    target = (yield from checkpoints.wanted(records, place, checkpoint_id)) if channels else None
    if target is None:
        return found
    chain = yield from _ancestors(place, target)
    written = yield from index(place.writes)
    missing = set(found)
    for start in range(0, len(chain), AT_ONCE):
        share = chain[start : start + AT_ONCE]
        states = yield from at_steps(place.checkpoints, [step for _, step in share])
        writes = yield from writes_of(packing, place, [label for label, _ in share], written)
        for label, step in share:
            if step in states:
                _gather(packing, found, missing, states[step], writes[label])
        if not missing:
            break
    return found


def _ancestors(place: Place, target: Checkpoint) -> Plan[list[tuple[str, int]]]:
    """Labels and steps of the target's parent, its parent, and so on."""
    kept = yield from outline(place.checkpoints)
    known = {record.label: record for record in kept}
    chain: list[tuple[str, int]] = []
    record: Checkpoint | None = target
    while record is not None and record.metadata.get("parent"):
        record = known.pop(label_of(record.metadata["parent"]), None)
        if record is not None:
            chain.append((record.label or "", record.step))
    return chain


def _gather(
    packing: Packing, found: Histories, missing: set[str], record: Checkpoint, writes: list[PendingWrite]
) -> None:
    """An ancestor's writes came after the value that it holds: they count, and nothing older does."""
    for channel in sorted(missing):
        own = [write for write in writes if write[1] == channel]
        found[channel]["writes"] = own + found[channel]["writes"]
        if channel in record.state["channel_values"]:
            found[channel]["seed"] = packing.unpack(record.state["channel_values"][channel])
            missing.discard(channel)
