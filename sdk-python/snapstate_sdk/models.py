"""What answers hold, as dataclasses. Times are ISO-8601 in UTC, sizes bytes; older servers may leave fields out."""

from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

Status = Literal["active", "completed", "failed"]
Source = Literal["hot", "warm", "archive"]
Tier = Literal["live", "archive"]


class ErrorSeen(TypedDict):
    """An error seen at a step; the type has at most 100 characters, the message 2,000."""

    type: str
    message: str


class _Paths(TypedDict):
    added: list[str]
    removed: list[str]
    changed: list[str]


class Diff(_Paths, total=False):
    """Paths of leaves such as `a.b[0].c`. At most 1,000 of them; beyond that `truncated` is True."""

    truncated: bool


@dataclass
class Checkpoint:
    """A saved step. `state_json` and `metadata_json` are the very text that was saved, to the byte."""

    checkpoint_id: str
    workflow_id: str
    step: int
    label: str | None = None
    state: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    etag: str | None = None
    created_at: str | None = None
    diff_from_previous: Diff | None = None
    size_bytes: int | None = None
    agent_id: str | None = None
    status: Status | None = None
    error: ErrorSeen | None = None
    expires_at: str | None = None
    state_json: str | None = field(default=None, repr=False, compare=False)
    metadata_json: str | None = field(default=None, repr=False, compare=False)


@dataclass
class WorkflowResume:
    """A workflow's newest checkpoint. `source` is the tier that held it."""

    workflow_id: str
    latest_checkpoint: Checkpoint
    total_checkpoints: int
    workflow_started_at: str | None = None
    last_activity_at: str | None = None
    status: Status | None = None
    expires_at: str | None = None
    source: Source | None = None

    @property
    def state(self) -> dict[str, Any]:
        """Of the newest checkpoint."""
        return self.latest_checkpoint.state

    @property
    def state_json(self) -> str | None:
        """Of the newest checkpoint: its text, to the byte."""
        return self.latest_checkpoint.state_json


@dataclass
class WorkflowReplay:
    """A page of history in step order. `total` counts this page; `next_cursor` asks for the next one."""

    workflow_id: str
    checkpoints: list[Checkpoint]
    total: int
    has_more: bool = False
    next_cursor: str | None = None


@dataclass
class SaveResult:
    """What was saved. `replayed`: it had been saved before, and this is that first result.

    `diff_from_previous` is None when it was not asked for, or when the step before lies in an archive out of reach.
    """

    checkpoint_id: str
    workflow_id: str
    step: int
    etag: str
    created_at: str
    diff_from_previous: Diff | None
    size_bytes: int
    replayed: bool = False


@dataclass
class StepsDiff:
    """What changed from one step to another; `from_step` is None before the first."""

    workflow_id: str
    from_step: int | None
    to_step: int
    diff: Diff


@dataclass
class WorkflowSummary:
    """A workflow as lists show it: its head's fields, and totals. `expires_at` is None while archived or pinned."""

    workflow_id: str
    status: Status
    latest_step: int
    label: str | None
    agent_id: str | None
    metadata: dict[str, Any]
    etag: str
    total_checkpoints: int
    size_bytes: int
    started_at: str
    last_activity_at: str
    expires_at: str | None
    pinned: bool
    ttl_seconds: int | None
    keep_last: int | None
    tier: Tier
    metadata_json: str | None = field(default=None, repr=False, compare=False)


@dataclass
class WorkflowPage:
    """One page of a list of workflows, newest activity first."""

    workflows: list[WorkflowSummary]
    has_more: bool
    next_cursor: str | None


@dataclass
class Agent:
    """An agent that is registered."""

    agent_id: str
    name: str
    description: str | None = None
    capabilities: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    last_seen_at: str | None = None
    created_at: str | None = None
    id: str | None = None


@dataclass
class AgentPage:
    """One page of a list of agents, last seen first."""

    agents: list[Agent]
    has_more: bool
    next_cursor: str | None
