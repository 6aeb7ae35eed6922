"""Where a thread is kept: workflows named after it, what is known of their heads, and which steps are free."""

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from langchain_core.runnables import RunnableConfig

from snapstate_sdk.adapters.calling import Plan, ask
from snapstate_sdk.adapters.naming import workflow_id
from snapstate_sdk.calls.of_workflows import get_workflow
from snapstate_sdk.errors import NotFoundError
from snapstate_sdk.models import WorkflowSummary

V = TypeVar("V")
REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """One namespace of a thread: its checkpoints are one workflow, their pending writes another."""

    prefix: str
    thread_id: str
    namespace: str

    @property
    def checkpoints(self) -> str:
        return workflow_id(self.prefix, self.thread_id, self.namespace, "checkpoints")

    @property
    def writes(self) -> str:
        return workflow_id(self.prefix, self.thread_id, self.namespace, "writes")

    @property
    def namespaces(self) -> str:
        """Of the whole thread: a step for each namespace but the root's."""
        return workflow_id(self.prefix, self.thread_id, "namespaces")

    def config(self, checkpoint_id: str) -> RunnableConfig:
        named = {"thread_id": self.thread_id, "checkpoint_ns": self.namespace, "checkpoint_id": checkpoint_id}
        return {"configurable": named}


def place_of(prefix: str, config: RunnableConfig) -> Place:
    wanted = config["configurable"]
    return Place(prefix, str(wanted["thread_id"]), wanted.get("checkpoint_ns") or "")


@dataclass(frozen=True, slots=True)
class Head:
    """Of a workflow of checkpoints. `newest`: the greatest checkpoint id and its step, which a clock that was set
    back may have put below the head. `first`: what stands below it was pruned."""

    step: int
    etag: str
    label: str | None
    newest_id: str
    newest_step: int
    first: int


class Remembered(Generic[V]):
    """The last few thousand of something, for threads; forgetting costs a call and nothing else."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[Hashable, V] = {}

    def get(self, key: Hashable) -> V | None:
        return self._values.get(key)

    def put(self, key: Hashable, value: V) -> None:
        with self._lock:
            self._values.pop(key, None)
            self._values[key] = value
            while len(self._values) > REMEMBERED:
                del self._values[next(iter(self._values))]

    def forget(self, key: Hashable) -> None:
        with self._lock:
            self._values.pop(key, None)


class Slots:
    """The next free step of workflows in which every step is its own and none is ever replaced."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: Remembered[int] = Remembered()

    def take(self, workflow: str) -> int | None:
        """None when this process knows nothing of that workflow."""
        with self._lock:
            step = self._next.get(workflow)
            if step is not None:
                self._next.put(workflow, step + 1)
            return step

    def forget(self, workflow: str) -> None:
        with self._lock:
            self._next.forget(workflow)

    def take_from(self, workflow: str, at_least: int) -> int:
        with self._lock:
            step = max(self._next.get(workflow) or 0, at_least)
            self._next.put(workflow, step + 1)
            return step


def summary_of(workflow: str) -> Plan[WorkflowSummary | None]:
    """The newest of a workflow without its state, or None. It sees every save at once, as the list does not."""
    try:
        return (yield from ask(get_workflow(workflow)))
    except NotFoundError:
        return None


def head_of(workflow: str) -> Plan[Head | None]:
    summary = yield from summary_of(workflow)
    if summary is None:
        return None
    return head_from(summary.latest_step, summary.etag, summary.label, summary.metadata)


def head_from(step: int, etag: str, label: str | None, metadata: dict[str, Any] | None) -> Head:
    kept = metadata or {}
    newest = kept.get("newest") or {}
    return Head(step, etag, label, newest.get("id", label or ""), newest.get("step", step), kept.get("first", 0))
