"""The tools: each is one call of the API, with arguments and an answer that a model can work with."""

from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field
from snapstate_sdk.errors import NotFoundError, SnapStateError
from snapstate_sdk.models import ErrorSeen

from snapstate_mcp import answers
from snapstate_mcp.answers import History, Registered, Resumed, Saved, Workflows
from snapstate_mcp.arguments import (
    Characters,
    Flag,
    Given,
    Id,
    MaybeAgentId,
    MaybeError,
    MaybeFacts,
    MaybeLabel,
    MaybeLifetime,
    MaybeObject,
    MaybeStatus,
    MaybeStep,
    MaybeText,
    MaybeTexts,
    NextStep,
    PageSize,
    Status,
    WholeState,
    WorkflowId,
)
from snapstate_mcp.caller import URL_VARIABLE, caller, client
from snapstate_mcp.history import fitting

WITH_STATES, WITHOUT = 20, 200  # checkpoints asked for at once


def dict_of(given: Given | None) -> dict[str, Any] | None:
    return given.value if given else None


async def save_checkpoint(
    workflow_id: WorkflowId,
    step: NextStep,
    state: WholeState,
    label: Annotated[MaybeLabel, Field(description="What this step did, in a few words.")] = None,
    agent_id: MaybeAgentId = None,
    metadata: Annotated[
        MaybeObject, Field(description="Facts to find the work by with list_workflows, at most 64 KiB; not the state.")
    ] = None,
    status: Status = "active",
    error: Annotated[MaybeError, Field(description='An error seen at this step: `{"type": …, "message": …}`.')] = None,
    ttl_seconds: MaybeLifetime = None,
) -> Saved:
    """Save where the work stands, so that it can be resumed after an interruption or by another agent.

    Call it after each step worth not repeating, and before anything risky or long. Saving the same step with the same
    contents again is safe and changes nothing. A step that holds other contents is never overwritten: that is an error
    which says what is there.
    """
    saved = await client().async_save(
        workflow_id,
        step,
        state.unless_text(),
        state_json=state.text,
        label=label,
        agent_id=agent_id,
        metadata=metadata.unless_text() if metadata else None,
        metadata_json=metadata.text if metadata else None,
        status=status,
        error=ErrorSeen(type=error.type, message=error.message) if error else None,
        ttl_seconds=ttl_seconds,
    )
    return answers.saved(saved)


async def resume_workflow(workflow_id: WorkflowId, agent_id: MaybeAgentId = None) -> Resumed:
    """Read where a workflow stands: its newest checkpoint with the whole state, and the step to save under next.

    Call it first, before any work on a task that may have been begun earlier. When nothing is saved yet the answer
    says so (`found` is false); that is no error, begin at the beginning.
    """
    try:
        return answers.resumed(await client().async_resume(workflow_id, agent_id=agent_id))
    except NotFoundError:
        await check_address()
        return answers.not_begun(workflow_id)


async def check_address() -> None:
    """Below a wrong path of SnapState's address nothing is found either, and work would be begun anew."""
    try:
        await client().async_health()
    except NotFoundError:
        raise ToolError(
            f"There is nothing at {caller().api_url}, so what is saved cannot be told (404). Somebody has to set "
            f"{URL_VARIABLE} to where SnapState is, most likely without a path. Do not begin the work anew."
        ) from None
    except SnapStateError:
        return  # it is there, and not well


async def get_workflow_history(
    workflow_id: WorkflowId,
    from_step: Annotated[MaybeStep, Field(description="The first step to show.")] = None,
    to_step: Annotated[MaybeStep, Field(description="The last step to show.")] = None,
    label: Annotated[MaybeText, Field(description="Only checkpoints with exactly this label.")] = None,
    include_state: Annotated[Flag, Field(description="false shows the steps without their states.")] = True,
    max_characters: Annotated[
        Characters, Field(description="How much to answer at most; the rest is a call away.")
    ] = 40_000,
) -> History:
    """Read the checkpoints of a workflow in the order of their steps: what was done, when, and with which state.

    The answer is cut to a size. When `has_more` is true, call again with `from_step` set to `next_from_step`. No
    checkpoints: none are as asked for, or nothing is saved under this id. For the newest state alone, use
    resume_workflow.
    """
    limit = WITH_STATES if include_state else WITHOUT
    page = await client().async_replay(
        workflow_id, from_step=from_step, to_step=to_step, label=label, limit=limit, include_state=include_state
    )
    return fitting(page, max_characters, include_state=include_state)


async def register_agent(
    agent_id: Annotated[Id, Field(description="Letters, digits and `_.:-`.")],
    name: Annotated[Id, Field(description="What people call the agent.")],
    description: Annotated[MaybeText, Field(description="What it does.")] = None,
    capabilities: Annotated[MaybeTexts, Field(description="What it can do, a word or two each.")] = None,
    metadata: Annotated[MaybeObject, Field(description="Anything else to keep with it.")] = None,
) -> Registered:
    """Make an agent known by name. Checkpoints may name agents that are not registered; this only tells who they are.

    Registering again with the same `agent_id` renews what is given and keeps the rest.
    """
    agent = await client().async_register_agent(
        agent_id, name, description=description, capabilities=capabilities, metadata=dict_of(metadata)
    )
    return answers.registered(agent)


async def list_workflows(
    status: Annotated[
        MaybeStatus,
        Field(description="`active`, `completed`, `failed`, or `stalled`: active, but silent for a day."),
    ] = None,
    agent_id: MaybeAgentId = None,
    label: Annotated[MaybeText, Field(description="Only with exactly this label on the newest checkpoint.")] = None,
    metadata: Annotated[
        MaybeFacts,
        Field(
            description='Only with these facts in the metadata of the newest checkpoint: `{"repo": "site", "pr": 7}`.'
        ),
    ] = None,
    id_prefix: Annotated[MaybeText, Field(description="Only ids that begin like this.")] = None,
    limit: Annotated[PageSize, Field(description="How many to show at most.")] = 20,
    cursor: Annotated[MaybeText, Field(description="`next_cursor` of the answer before; same filters.")] = None,
) -> Workflows:
    """List workflows, those with the newest activity first, without their states.

    Use it to find the id of work that was begun earlier. A save shows here after two seconds at the most.
    """
    page = await client().async_list_workflows(
        status=status, agent_id=agent_id, label=label, metadata=metadata, q=id_prefix, limit=limit, cursor=cursor
    )
    return answers.listed(page)
