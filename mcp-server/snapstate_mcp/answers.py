"""What the tools answer with: fields a model can act on, and never more of them than fit into its context."""

from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, Field
from snapstate_sdk.models import Agent, SaveResult, WorkflowPage, WorkflowResume, WorkflowSummary

MOST_PATHS = 20
LONGEST_PATH = 200
NEXT = {
    "active": "Go on from this state, and save the next checkpoint under `next_step`.",
    "completed": "This work is done. Only if there is more to do, go on from this state under `next_step`.",
    "failed": "This work was given up; the state says how far it came. To try again, go on under `next_step`.",
}


class Diff(BaseModel):
    """Paths of what differs from the checkpoint before, such as `notes[2].title`."""

    added: list[str]
    removed: list[str]
    changed: list[str]
    not_shown: int = Field(description="How many more paths differ than are listed here.")


class Saved(BaseModel):
    """A checkpoint that is safely stored."""

    workflow_id: str
    step: int
    checkpoint_id: str
    etag: str = Field(description="Names this revision of the checkpoint.")
    created_at: str
    size_bytes: int = Field(description="Of the state; at most 1,048,576.")
    already_saved: bool = Field(description="True when this very checkpoint was there before: nothing was added.")
    diff_from_previous: Diff | None = Field(description="Null when the step before could not be looked at.")
    next_step: int = Field(description="The step to save under next.")


class Resumed(BaseModel):
    """Where a workflow stands, with its whole state; or that there is nothing yet."""

    found: bool = Field(description="False: nothing is saved under this id yet.")
    workflow_id: str
    what_now: str = Field(description="What to do with this answer.")
    next_step: int = Field(description="The step to save under next.")
    status: str | None = Field(default=None, description="`active`, `completed` or `failed`.")
    step: int | None = Field(default=None, description="The step of the newest checkpoint.")
    label: str | None = None
    state: dict[str, Any] | None = Field(default=None, description="The state that was saved, as it was saved.")
    metadata: dict[str, Any] | None = None
    agent_id: str | None = Field(default=None, description="The agent that saved it.")
    etag: str | None = None
    created_at: str | None = None
    total_checkpoints: int = 0
    workflow_started_at: str | None = None
    expires_at: str | None = Field(
        default=None, description="When it moves to the archive, from where it still resumes."
    )


class Past(BaseModel):
    """One checkpoint of a history."""

    step: int
    label: str | None
    status: str
    error: dict[str, Any] | None = Field(description="`{type, message}` of an error that was seen at this step.")
    agent_id: str | None
    created_at: str
    size_bytes: int
    metadata: dict[str, Any] | None
    state: dict[str, Any] | None
    left_out: list[str] = Field(
        description="Which of `state` and `metadata` were too large to be shown; a higher `max_characters` shows them."
    )


class History(BaseModel):
    """Checkpoints in the order of their steps, as many as fit."""

    workflow_id: str
    checkpoints: list[Past]
    has_more: bool
    next_from_step: int | None = Field(description="Call again with this as `from_step` for the rest; null at the end.")


class Workflow(BaseModel):
    """One workflow, told by its newest checkpoint."""

    workflow_id: str
    status: str
    latest_step: int
    label: str | None
    agent_id: str | None
    total_checkpoints: int
    started_at: str
    last_activity_at: str
    expires_at: str | None = Field(description="Null while it is archived or pinned.")
    tier: str = Field(description="`live`, or `archive`, from where it still resumes.")
    resource: str = Field(description="The resource that holds its newest checkpoint.")


class Workflows(BaseModel):
    """Workflows, newest activity first."""

    workflows: list[Workflow]
    has_more: bool
    next_cursor: str | None = Field(description="Call again with this as `cursor` for the rest; null at the end.")


class Registered(BaseModel):
    """An agent as it is registered now."""

    agent_id: str
    name: str | None
    description: str | None
    capabilities: list[str]
    metadata: dict[str, Any] | None
    created_at: str
    last_seen_at: str | None


def short_diff(diff: Any) -> Diff | None:
    """A diff has up to 1,000 paths, each as long as its keys; a model is shown the first of them."""
    if not diff:
        return None
    shown = {kind: list(diff.get(kind, ())) for kind in ("added", "removed", "changed")}
    cut = {kind: [path[:LONGEST_PATH] for path in paths[:MOST_PATHS]] for kind, paths in shown.items()}
    return Diff(**cut, not_shown=sum(len(shown[kind]) - len(cut[kind]) for kind in shown))


def saved(result: SaveResult) -> Saved:
    return Saved(
        workflow_id=result.workflow_id,
        step=result.step,
        checkpoint_id=result.checkpoint_id,
        etag=result.etag,
        created_at=result.created_at,
        size_bytes=result.size_bytes,
        already_saved=result.replayed,
        diff_from_previous=short_diff(result.diff_from_previous),
        next_step=result.step + 1,
    )


def resumed(found: WorkflowResume) -> Resumed:
    head = found.latest_checkpoint
    return Resumed(
        found=True,
        workflow_id=found.workflow_id,
        what_now=NEXT.get(found.status or "", NEXT["active"]),
        next_step=head.step + 1,
        status=found.status,
        step=head.step,
        label=head.label,
        state=head.state,
        metadata=None if head.metadata_json is None else head.metadata,
        agent_id=head.agent_id,
        etag=head.etag,
        created_at=head.created_at,
        total_checkpoints=found.total_checkpoints,
        workflow_started_at=found.workflow_started_at,
        expires_at=found.expires_at,
    )


def not_begun(workflow_id: str) -> Resumed:
    return Resumed(
        found=False,
        workflow_id=workflow_id,
        what_now="Nothing is saved under this id yet: begin the work, and save its first checkpoint as step 1. "
        "If it should have been begun before, look for its id with list_workflows.",
        next_step=1,
    )


def registered(agent: Agent) -> Registered:
    return Registered(
        agent_id=agent.agent_id,
        name=agent.name,
        description=agent.description,
        capabilities=agent.capabilities,
        metadata=agent.metadata or None,
        created_at=agent.created_at or "",
        last_seen_at=agent.last_seen_at,
    )


def listed(page: WorkflowPage) -> Workflows:
    return Workflows(
        workflows=[workflow(one) for one in page.workflows], has_more=page.has_more, next_cursor=page.next_cursor
    )


def workflow(summary: WorkflowSummary) -> Workflow:
    return Workflow(
        workflow_id=summary.workflow_id,
        status=summary.status,
        latest_step=summary.latest_step,
        label=summary.label,
        agent_id=summary.agent_id,
        total_checkpoints=summary.total_checkpoints,
        started_at=summary.started_at,
        last_activity_at=summary.last_activity_at,
        expires_at=summary.expires_at,
        tier=summary.tier,
        resource=resource_of(summary.workflow_id),
    )


def resource_of(workflow_id: str) -> str:
    return f"snapstate://workflows/{quote(workflow_id, safe='')}"
