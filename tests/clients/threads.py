"""Checkpoints as LangGraph makes them, put and listed without a graph."""

from typing import Any

from langgraph.checkpoint.base import ChannelVersions, Checkpoint, empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from snapstate_sdk.adapters.langgraph import SnapStateSaver

Config = Any


def config(thread: str = "thread", namespace: str = "", checkpoint_id: str | None = None) -> Config:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}


def checkpoint(**values: Any) -> Checkpoint:
    """Each newer than the one before."""
    versions: ChannelVersions = dict.fromkeys(values, 1)
    return {**empty_checkpoint(), "id": str(uuid6()), "channel_values": values, "channel_versions": versions}


def put(saver: SnapStateSaver, where: Config, **values: Any) -> Config:
    return saver.put(where, checkpoint(**values), {"source": "loop", "step": 0, "parents": {}}, {})


def ids(saver: SnapStateSaver, where: Config) -> list[str]:
    return [found.checkpoint["id"] for found in saver.list(where)]


def values(saver: SnapStateSaver, where: Config, channel: str = "n") -> list[Any]:
    return [found.checkpoint["channel_values"][channel] for found in saver.list(where)]
