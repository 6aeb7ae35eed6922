"""Workflows: resume, replay, compare, list, keep, erase."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from snapstate_sdk import reading
from snapstate_sdk.call import Call, Pages, nothing
from snapstate_sdk.models import (
    Checkpoint,
    Status,
    StepsDiff,
    WorkflowPage,
    WorkflowReplay,
    WorkflowResume,
    WorkflowSummary,
)
from snapstate_sdk.outgoing import body, encoded, joined, query, segment

Scalar = str | int | float | bool | None


def path_of(workflow_id: str, read: str = "") -> str:
    return f"/workflows/{segment(workflow_id, 'workflow_id')}{read}"


def resume(workflow_id: str, *, agent_id: str | None = None) -> Call[WorkflowResume]:
    """A workflow's newest checkpoint. `agent_id`: who resumes. Raises NotFoundError when nothing was saved yet."""
    return Call("GET", path_of(workflow_id, "/resume") + query(agent_id=agent_id), reading.resumed)


def replay(
    workflow_id: str,
    from_step: int | None = None,
    to_step: int | None = None,
    limit: int | None = None,
    *,
    label: str | None = None,
    cursor: str | None = None,
    include_state: bool = True,
) -> Call[WorkflowReplay]:
    """One page of a workflow's history in step order; `checkpoints()` walks through all of them.

    `from_step` and `to_step` are inclusive, `label` is exact. `limit`: 1 to 1,000, 100 unless told otherwise; a page
    also ends at 16 MiB. `cursor`: `next_cursor` of the page before. A workflow that is unknown has an empty history.
    """
    asked = query(
        from_step=from_step,
        to_step=to_step,
        label=label,
        limit=limit,
        cursor=cursor,
        include_state=None if include_state else False,
    )
    return Call("GET", path_of(workflow_id, "/replay") + asked, reading.replayed)


def checkpoints(
    workflow_id: str,
    from_step: int | None = None,
    to_step: int | None = None,
    *,
    label: str | None = None,
    include_state: bool = True,
    page_size: int | None = None,
) -> Pages[Checkpoint]:
    """A workflow's whole history in step order, page after page as it is read. Arguments as in `replay()`.

    Each page is one billable call; `page_size` is at most 1,000.
    """

    def page(cursor: str | None) -> Call[tuple[list[Checkpoint], str | None]]:
        asked = replay(
            workflow_id, from_step, to_step, page_size, label=label, cursor=cursor, include_state=include_state
        )
        return asked.then(lambda found: (found.checkpoints, found.next_cursor))

    return Pages(page)


def diff(workflow_id: str, from_step: int | None = None, to_step: int | None = None) -> Call[StepsDiff]:
    """What changed from one step to another; between the two newest unless told otherwise. Raises NotFoundError."""
    return Call("GET", path_of(workflow_id, "/diff") + query(from_step=from_step, to_step=to_step), reading.steps_diff)


def list_workflows(
    *,
    status: Status | Literal["stalled"] | None = None,
    agent_id: str | None = None,
    label: str | None = None,
    metadata: Mapping[str, Scalar] | None = None,
    updated_after: str | datetime | None = None,
    updated_before: str | datetime | None = None,
    q: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[WorkflowPage]:
    """One page of the workflows, newest activity first; `workflows()` walks through all. Trails a save by 2 s at most.

    All filters are on a workflow's head. `metadata`: top-level members with these values. `q`: how the id begins.
    `updated_after`, `updated_before`: a datetime with a time zone, or text such as "2026-11-29T18:33:11.123Z".
    `limit`: 1 to 200, 50 unless told otherwise.
    """
    by_metadata = {
        f"metadata.{name}": value if isinstance(value, str) else json.dumps(value)
        for name, value in (metadata or {}).items()
    }
    asked = query(
        status=status,
        agent_id=agent_id,
        label=label,
        updated_after=updated_after,
        updated_before=updated_before,
        q=q,
        limit=limit,
        cursor=cursor,
        **by_metadata,
    )
    return Call("GET", f"/workflows{asked}", reading.workflow_page)


def workflows(
    *,
    status: Status | Literal["stalled"] | None = None,
    agent_id: str | None = None,
    label: str | None = None,
    metadata: Mapping[str, Scalar] | None = None,
    updated_after: str | datetime | None = None,
    updated_before: str | datetime | None = None,
    q: str | None = None,
    page_size: int | None = None,
) -> Pages[WorkflowSummary]:
    """All workflows, newest activity first, page after page as they are read. Arguments as in `list_workflows()`."""

    def page(cursor: str | None) -> Call[tuple[list[WorkflowSummary], str | None]]:
        asked = list_workflows(
            status=status,
            agent_id=agent_id,
            label=label,
            metadata=metadata,
            updated_after=updated_after,
            updated_before=updated_before,
            q=q,
            limit=page_size,
            cursor=cursor,
        )
        return asked.then(lambda found: (found.workflows, found.next_cursor))

    return Pages(page)


def get_workflow(workflow_id: str) -> Call[WorkflowSummary]:
    """One workflow's summary. Raises NotFoundError."""
    return Call("GET", path_of(workflow_id), reading.summary)


class Unchanged:
    """Stands for an argument that was not given, where None means something."""

    def __repr__(self) -> str:
        return "UNCHANGED"


UNCHANGED = Unchanged()


def update_workflow(
    workflow_id: str,
    *,
    ttl_seconds: int | None = None,
    pinned: bool | None = None,
    keep_last: int | Unchanged | None = UNCHANGED,
) -> Call[WorkflowSummary]:
    """Change how long a workflow lives. `ttl_seconds`: from its last save. `pinned`: neither archived nor pruned.
    `keep_last`: how many of the newest steps are kept, None for all. Raises NotFoundError."""
    content = body(ttl_seconds=ttl_seconds, pinned=pinned)
    if not isinstance(keep_last, Unchanged):
        kept = joined({"keep_last": encoded(keep_last, "keep_last")})
        content = kept if content == b"{}" else content[:-1] + b"," + kept[1:]
    return Call("PATCH", path_of(workflow_id), reading.summary, content)


def erase(workflow_id: str) -> Call[None]:
    """Erase a workflow from every tier, for ever. Raises NotFoundError."""
    return Call("DELETE", path_of(workflow_id), nothing, gone_is_done=True)
