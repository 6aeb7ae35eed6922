"""How answers become models."""

from collections.abc import Mapping
from typing import Any

from snapstate_sdk.call import Answer
from snapstate_sdk.incoming import parsed
from snapstate_sdk.models import (
    Agent,
    AgentPage,
    Checkpoint,
    SaveResult,
    StepsDiff,
    WorkflowPage,
    WorkflowReplay,
    WorkflowResume,
    WorkflowSummary,
)

CHECKPOINT = frozenset(Checkpoint.__dataclass_fields__)
SUMMARY = frozenset(WorkflowSummary.__dataclass_fields__)
AGENT = frozenset(Agent.__dataclass_fields__)


def saved(answer: Answer) -> SaveResult:
    found = parsed(answer.content)
    return SaveResult(
        checkpoint_id=found["checkpoint_id"],
        workflow_id=found["workflow_id"],
        step=found["step"],
        etag=found["etag"],
        created_at=found["created_at"],
        diff_from_previous=found.get("diff_from_previous"),
        size_bytes=found["size_bytes"],
        replayed=answer.headers.get("Idempotent-Replayed") == "true",
    )


def checkpoint(answer: Answer) -> Checkpoint:
    found = parsed(answer.content)
    return _checkpoint(found, found["workflow_id"])


def checkpoint_if_changed(answer: Answer) -> Checkpoint | None:
    return None if answer.status == 304 else checkpoint(answer)


def _checkpoint(found: Mapping[str, Any], workflow_id: str) -> Checkpoint:
    """Fields that this release does not know are passed over."""
    known = {name: value for name, value in found.items() if name in CHECKPOINT}
    known["metadata"] = metadata = found.get("metadata") or {}
    known["agent_id"] = found.get("agent_id") or metadata.get("agent_id")
    return Checkpoint(**{**known, "workflow_id": workflow_id})


def resumed(answer: Answer) -> WorkflowResume:
    found = parsed(answer.content)
    return WorkflowResume(
        workflow_id=found["workflow_id"],
        latest_checkpoint=_checkpoint(found["latest_checkpoint"], found["workflow_id"]),
        total_checkpoints=found["total_checkpoints"],
        workflow_started_at=found.get("workflow_started_at"),
        last_activity_at=found.get("last_activity_at"),
        status=found.get("status"),
        expires_at=found.get("expires_at"),
        source=found.get("source"),
    )


def replayed(answer: Answer) -> WorkflowReplay:
    found = parsed(answer.content)
    return WorkflowReplay(
        workflow_id=found["workflow_id"],
        checkpoints=[_checkpoint(one, found["workflow_id"]) for one in found["checkpoints"]],
        total=found["total"],
        has_more=found.get("has_more", False),
        next_cursor=found.get("next_cursor"),
    )


def steps_diff(answer: Answer) -> StepsDiff:
    found = parsed(answer.content)
    return StepsDiff(found["workflow_id"], found["from_step"], found["to_step"], found["diff"])


def summary(answer: Answer) -> WorkflowSummary:
    return _summary(parsed(answer.content))


def _summary(found: Mapping[str, Any]) -> WorkflowSummary:
    known = {name: value for name, value in found.items() if name in SUMMARY}
    return WorkflowSummary(**{**known, "metadata": found.get("metadata") or {}})


def workflow_page(answer: Answer) -> WorkflowPage:
    found = parsed(answer.content)
    return WorkflowPage([_summary(one) for one in found["workflows"]], found["has_more"], found["next_cursor"])


def agent(answer: Answer) -> Agent:
    return _agent(parsed(answer.content))


def _agent(found: Mapping[str, Any]) -> Agent:
    known = {name: value for name, value in found.items() if name in AGENT}
    filled = {"capabilities": found.get("capabilities") or [], "metadata": found.get("metadata") or {}}
    return Agent(**{**known, "name": found.get("name") or "", **filled})


def agent_page(answer: Answer) -> AgentPage:
    found = parsed(answer.content)
    return AgentPage([_agent(one) for one in found["agents"]], found["has_more"], found["next_cursor"])
