"""A history is cut so that it fits: whole checkpoints, and a pointer to the first that did not fit."""

from snapstate_sdk.models import Checkpoint, WorkflowReplay

from snapstate_mcp.answers import History, Past

FRAME = 200  # characters of an answer besides its checkpoints, about


def fitting(page: WorkflowReplay, most: int, *, include_state: bool) -> History:
    """One checkpoint at least, without its state where that alone is too large."""
    shown: list[Past] = []
    left = most - FRAME
    for checkpoint in page.checkpoints:
        past = told(checkpoint, include_state=include_state)
        if not shown:
            past = cut(past, left)
        left -= size_of(past)
        if shown and left < 0:
            return history(page, shown, more=True)
        shown.append(past)
    return history(page, shown, more=page.has_more)


def history(page: WorkflowReplay, shown: list[Past], *, more: bool) -> History:
    from_step = shown[-1].step + 1 if more and shown else None
    return History(
        workflow_id=page.workflow_id, checkpoints=shown, has_more=from_step is not None, next_from_step=from_step
    )


def told(checkpoint: Checkpoint, *, include_state: bool) -> Past:
    return Past(
        step=checkpoint.step,
        label=checkpoint.label,
        status=checkpoint.status or "active",
        error=dict(checkpoint.error) if checkpoint.error else None,
        agent_id=checkpoint.agent_id,
        created_at=checkpoint.created_at or "",
        size_bytes=checkpoint.size_bytes or 0,
        metadata=None if checkpoint.metadata_json is None else checkpoint.metadata,
        state=checkpoint.state if include_state else None,
        left_out=[],
    )


def cut(past: Past, most: int) -> Past:
    """Whatever is too large for an answer of its own: the state first."""
    for name in ("state", "metadata"):
        if size_of(past) > most and getattr(past, name) is not None:
            past = past.model_copy(update={name: None, "left_out": [*past.left_out, name]})
    return past


def size_of(past: Past) -> int:
    return len(past.model_dump_json()) + 1
