"""LangGraph's checkpoints in SnapState: a graph killed in one process goes on in another."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from snapstate_sdk.adapters import checkpoints, deltas, pending, threads, upkeep
from snapstate_sdk.adapters.calling import Plan, Stream, arun, astream, run, stream
from snapstate_sdk.adapters.naming import checked_prefix
from snapstate_sdk.adapters.packing import Packing
from snapstate_sdk.adapters.places import Place, place_of
from snapstate_sdk.adapters.records import Records
from snapstate_sdk.client import SnapStateClient


class SnapStateSaver(BaseCheckpointSaver[int]):
    """`builder.compile(checkpointer=SnapStateSaver(client))`, for `invoke` and `ainvoke` alike.

    `client` stays the caller's to close. `prefix` begins the ids of all workflows of this saver; savers with different
    ones cannot see one another's threads. `agent_id` and `ttl_seconds` go with every save. `serde` is LangGraph's: with
    one of its encrypted serializers the server sees no value in the clear.

    Raises the client's errors; what stands in ADAPTERS.md says which, and what is kept where.
    """

    def __init__(
        self,
        client: SnapStateClient,
        *,
        prefix: str = "langgraph",
        serde: SerializerProtocol | None = None,
        agent_id: str | None = None,
        ttl_seconds: int | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self.client = client
        self.prefix = checked_prefix(prefix)
        self._records = Records({"agent_id": agent_id, "ttl_seconds": ttl_seconds})

    # One plan for each act…

    @property
    def _packing(self) -> Packing:
        return Packing(self.serde)  # LangGraph gives copies of a saver another serde

    def _get(self, config: RunnableConfig) -> Plan[CheckpointTuple | None]:
        place = place_of(self.prefix, config)
        record = yield from checkpoints.wanted(self._records, place, get_checkpoint_id(config))
        if record is None:
            return None
        found = checkpoints.tuple_of(self._packing, place, record, [])
        writes = yield from pending.of(self._packing, place, found.checkpoint["id"])
        return found._replace(pending_writes=writes)

    def _list(
        self,
        config: RunnableConfig | None,
        narrowed: dict[str, Any] | None,
        before: RunnableConfig | None,
        few: int | None,
    ) -> Stream[CheckpointTuple]:
        checkpoint_id = get_checkpoint_id(config) if config else None
        wanted = threads.Wanted(checkpoint_id, get_checkpoint_id(before) if before else None, narrowed or {}, few)
        return threads.listed(self.prefix, self._packing, config or None, wanted)  # {} means all threads too

    def _put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> Plan[RunnableConfig]:
        place = place_of(self.prefix, config)
        kept = get_serializable_checkpoint_metadata(config, metadata)
        state = checkpoints.state_of(self._packing, checkpoint, kept)
        yield from checkpoints.put(self._records, place, checkpoint["id"], get_checkpoint_id(config), state)
        return place.config(checkpoint["id"])

    def _put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task: tuple[str, str]
    ) -> Plan[None]:
        place = place_of(self.prefix, config)
        checkpoint_id = config["configurable"]["checkpoint_id"]
        return pending.put(self._records, self._packing, place, checkpoint_id, task, writes)

    def _deltas(self, config: RunnableConfig, channels: Sequence[str]) -> Plan[deltas.Histories]:
        place = place_of(self.prefix, config)
        return deltas.histories(self._records, self._packing, place, get_checkpoint_id(config), channels)

    def workflow_ids(self, thread_id: str, checkpoint_ns: str = "") -> tuple[str, str]:
        """Where a thread's checkpoints are, and where its pending writes: for `client.replay` and the like."""
        place = Place(self.prefix, thread_id, checkpoint_ns)
        return place.checkpoints, place.writes

    # …and LangGraph's names for them, twice

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return run(self.client, self._get(config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await arun(self.client, self._get(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the name is LangGraph's
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        return islice(stream(self.client, self._list(config, filter, before, limit)), limit)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the name is LangGraph's
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        if limit == 0:
            return
        left = limit
        async for found in astream(self.client, self._list(config, filter, before, limit)):
            yield found
            left = None if left is None else left - 1
            if left == 0:
                return

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002 - all values go with every checkpoint; the server keeps what changed
    ) -> RunnableConfig:
        return run(self.client, self._put(config, checkpoint, metadata))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002
    ) -> RunnableConfig:
        return await arun(self.client, self._put(config, checkpoint, metadata))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        run(self.client, self._put_writes(config, writes, (task_id, task_path)))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await arun(self.client, self._put_writes(config, writes, (task_id, task_path)))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return run(self.client, self._deltas(config, channels))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return await arun(self.client, self._deltas(config, channels))

    def delete_thread(self, thread_id: str) -> None:
        run(self.client, upkeep.erase(self._records, self.prefix, thread_id))

    async def adelete_thread(self, thread_id: str) -> None:
        await arun(self.client, upkeep.erase(self._records, self.prefix, thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = upkeep.KEEP_LATEST) -> None:
        run(self.client, upkeep.prune(self._records, self._packing, self.prefix, thread_ids, strategy))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = upkeep.KEEP_LATEST) -> None:
        await arun(self.client, upkeep.prune(self._records, self._packing, self.prefix, thread_ids, strategy))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        run(self.client, upkeep.copy(self._records, self.prefix, source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await arun(self.client, upkeep.copy(self._records, self.prefix, source_thread_id, target_thread_id))
