"""LangGraph's PostgresSaver, in process and in one thread, putting the same states into a database of its own."""

import time
from itertools import count
from typing import Any

from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg import Connection
from psycopg.rows import dict_row

from snapstate_project.dev.bench.requests import Plan
from snapstate_project.dev.bench.slices import Order, Slice


class Saver:
    """Each thread lives as many steps as a workflow does; each put names the one before as its parent."""

    def __init__(self, plan: Plan, database_url: str) -> None:
        self.plan = plan
        connection: Connection[Any] = Connection.connect(
            database_url, autocommit=True, prepare_threshold=0, row_factory=dict_row
        )
        self.saver = PostgresSaver(connection)
        self.saver.setup()
        self.numbers = count(1)
        self.config: Any = None
        self.step = 0

    def run(self, order: Order) -> Slice:
        """Only put() is timed."""
        result = Slice(0.0, [])
        states = self.plan.growing[order.size].objects
        began = ended = time.perf_counter()
        while ended < began + order.seconds:
            if self.config is None or self.step == len(states):
                self.begin_thread()
            checkpoint, metadata, versions = self.arguments(states[self.step])
            put = time.perf_counter()
            self.config = self.saver.put(self.config, checkpoint, metadata, versions)
            ended = time.perf_counter()
            result.latencies.append(ended - put)
            self.step += 1
        result.seconds = ended - began
        return result

    def begin_thread(self) -> None:
        thread = f"{self.plan.run}-{next(self.numbers)}"
        self.config, self.step = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}, 0

    def arguments(self, state: dict[str, Any]) -> tuple[Checkpoint, CheckpointMetadata, ChannelVersions]:
        versions: ChannelVersions = {"state": f"{self.step + 1:032}.0"}
        checkpoint = Checkpoint(
            v=4,
            id=f"{next(self.numbers):032}",
            ts="2026-11-29T18:33:11.123456+00:00",
            channel_values={"state": state},
            channel_versions=versions,
            versions_seen={},
            updated_channels=["state"],
        )
        return checkpoint, {"source": "loop", "step": self.step, "parents": {}}, versions
