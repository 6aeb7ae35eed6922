"""A workflow from where it was to where it goes: resumed, its steps numbered, each save guarded by the last etag."""

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Literal, Self, TypeGuard

from snapstate_sdk.call import Call
from snapstate_sdk.calls import of_checkpoints, of_workflows
from snapstate_sdk.connection import Connected
from snapstate_sdk.errors import NotFoundError, SnapStateError
from snapstate_sdk.models import ErrorSeen, SaveResult, Status, WorkflowResume

OnError = Literal["ignore", "record", "fail"]


class _Session:
    """What both twins know of their workflow.

    `state`: as last saved, {} for a new workflow; change it in place if you like, or give another one to
    `checkpoint()`. `step`: the head's, 0 before the first. `status`, `label`, `metadata`: the head's. `etag`: what the
    next save is guarded with, None for a new workflow. `resumed`: whether something had been saved before.
    """

    def __init__(
        self,
        client: Connected,
        workflow_id: str,
        *,
        agent_id: str | None = None,
        ttl_seconds: int | None = None,
        on_error: OnError = "ignore",
    ) -> None:
        self.connection = client.connection
        self.workflow_id = workflow_id
        self.agent_id = agent_id
        self.ttl_seconds = ttl_seconds
        self.on_error = on_error
        self.state: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        self.step = 0
        self.label: str | None = None
        self.status: Status = "active"
        self.etag: str | None = None
        self.resumed = False
        # A save is guarded by the one before it: of two at once the second would be taken for another writer's.
        self._turn = threading.RLock()  # again by the same thread, for signal handlers that save
        self._async_turn = asyncio.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.workflow_id!r}, step={self.step}, status={self.status!r})"

    def _resume(self) -> Call[WorkflowResume]:
        return of_workflows.resume(self.workflow_id, agent_id=self.agent_id)

    def _begin_at(self, found: WorkflowResume) -> None:
        head = found.latest_checkpoint
        self.state, self.metadata, self.step, self.label = head.state, head.metadata, head.step, head.label
        self.etag, self.status, self.resumed = head.etag, found.status or "active", True

    def _save(
        self,
        label: str | None,
        state: Mapping[str, Any] | None,
        metadata: Mapping[str, Any] | None = None,
        status: Status = "active",
        error: ErrorSeen | BaseException | None = None,
    ) -> Call[SaveResult]:
        """The next step. What is sent is remembered once the server has it, and not before."""
        wanted = dict(self.state if state is None else state)
        call = of_checkpoints.save(
            self.workflow_id,
            self.step + 1,
            wanted,
            label,
            metadata,
            self.agent_id,
            self.ttl_seconds,
            self.etag,
            if_none_match=None if self.etag else "*",
            status=status,
            error=error,
            diff=False,
        )

        def remember(saved: SaveResult) -> SaveResult:
            self.state = self.state if state is None else wanted
            self.step, self.etag, self.label, self.status = saved.step, saved.etag, label, status
            self.metadata = dict(metadata or {})
            return saved

        return call.then(remember)

    def _is_recorded(self, error: BaseException | None) -> TypeGuard[Exception]:
        """Only errors of the work: no interrupt or cancellation, and none of our own, which would meet us again."""
        return self.on_error != "ignore" and isinstance(error, Exception) and not isinstance(error, SnapStateError)

    def _save_failure(self, error: Exception) -> Call[SaveResult]:
        return self._save("failed", None, None, "failed" if self.on_error == "fail" else "active", error)


class WorkflowSession(_Session):
    """`with client.workflow("wf_1", agent_id="a") as wf:` — made by the client. Threads that share it take turns."""

    def _save_in_turn(self, *step: Any) -> SaveResult:
        with self._turn:
            return self.connection.send(self._save(*step))

    def checkpoint(
        self,
        label: str | None = None,
        state: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        status: Status = "active",
        error: ErrorSeen | BaseException | None = None,
    ) -> SaveResult:
        """Save the next step; `state`: `self.state` as it is now, unless given.

        Raises ConflictError when another writer has saved meanwhile. After ConnectionFailedError make the same call
        again: whatever had become of the first, the step is there once.
        """
        return self._save_in_turn(label, state, metadata, status, error)

    def complete(self, state: Mapping[str, Any] | None = None, *, label: str | None = "completed") -> SaveResult:
        """A last step, with which the workflow is completed."""
        return self._save_in_turn(label, state, None, "completed")

    def fail(
        self, error: ErrorSeen | BaseException, state: Mapping[str, Any] | None = None, *, label: str | None = "failed"
    ) -> SaveResult:
        """A step that holds the error, with which the workflow is failed. It may be gone on with all the same."""
        return self._save_in_turn(label, state, None, "failed", error)

    def __enter__(self) -> Self:
        with suppress(NotFoundError):  # nothing saved yet: the first save makes it, if nobody else has meanwhile
            self._begin_at(self.connection.send(self._resume()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_recorded(error):
            try:
                self.connection.send(self._save_failure(error))
            except SnapStateError as unsaved:
                error.add_note(f"SnapState could not record this: {unsaved!r}")


class AsyncWorkflowSession(_Session):
    """`async with client.async_workflow("wf_1", agent_id="a") as wf:` — made by the client. Tasks take turns."""

    async def _save_in_turn(self, *step: Any) -> SaveResult:
        async with self._async_turn:
            return await self.connection.async_send(self._save(*step))

    async def checkpoint(
        self,
        label: str | None = None,
        state: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        status: Status = "active",
        error: ErrorSeen | BaseException | None = None,
    ) -> SaveResult:
        """As `WorkflowSession.checkpoint()`."""
        return await self._save_in_turn(label, state, metadata, status, error)

    async def complete(self, state: Mapping[str, Any] | None = None, *, label: str | None = "completed") -> SaveResult:
        """As `WorkflowSession.complete()`."""
        return await self._save_in_turn(label, state, None, "completed")

    async def fail(
        self, error: ErrorSeen | BaseException, state: Mapping[str, Any] | None = None, *, label: str | None = "failed"
    ) -> SaveResult:
        """As `WorkflowSession.fail()`."""
        return await self._save_in_turn(label, state, None, "failed", error)

    async def __aenter__(self) -> Self:
        with suppress(NotFoundError):  # nothing saved yet: the first save makes it, if nobody else has meanwhile
            self._begin_at(await self.connection.async_send(self._resume()))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_recorded(error):
            try:
                await self.connection.async_send(self._save_failure(error))
            except SnapStateError as unsaved:
                error.add_note(f"SnapState could not record this: {unsaved!r}")
