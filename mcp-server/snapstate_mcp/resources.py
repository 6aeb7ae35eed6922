"""Workflows as resources: the newest checkpoint of each, its state as the text that was saved; and a list of them."""

import json
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference
from snapstate_sdk.errors import NotFoundError, SnapStateError
from snapstate_sdk.models import Checkpoint

from snapstate_mcp import answers
from snapstate_mcp.caller import Callers, caller, client
from snapstate_mcp.mending import told

LISTED = 50
JSON = "application/json"
ANY_TEXT = ResourceSecurity(exempt_params={"workflow_id"})  # an id is no path: `../a` is one like any other


async def recent_workflows() -> str:
    """The 50 workflows with the newest activity, as JSON, without their states."""
    try:
        page = answers.listed(await client().async_list_workflows(limit=LISTED))
    except (SnapStateError, ToolError) as error:
        raise await as_resource_error(error) from None
    return page.model_dump_json()


async def workflow(workflow_id: str) -> str:
    """The newest checkpoint of a workflow, as JSON; its state is, byte for byte, the text that was saved."""
    try:
        head = await client().async_get_workflow(workflow_id)
        checkpoint = await client().async_get(f"cp_{workflow_id}_{head.latest_step:03d}")
    except NotFoundError:
        raise ResourceNotFoundError(f"Nothing is saved under the workflow id {workflow_id!r}") from None
    except (SnapStateError, ToolError) as error:
        raise await as_resource_error(error) from None
    return text_of(checkpoint)


def text_of(checkpoint: Checkpoint) -> str:
    """Looking at a workflow is not resuming it: nothing is counted, and no agent is seen."""
    names = ("workflow_id", "step", "status", "label", "agent_id", "error", "etag", "created_at", "expires_at")
    fields = [f"{json.dumps(name)}:{json.dumps(getattr(checkpoint, name), ensure_ascii=False)}" for name in names]
    texts = [f'"metadata":{checkpoint.metadata_json or "null"}', f'"state":{checkpoint.state_json}']
    return "{" + ",".join(fields + texts) + "}"


async def as_resource_error(error: SnapStateError | ToolError) -> ResourceError:
    return ResourceError(await told(error, caller(), {}) if isinstance(error, SnapStateError) else str(error))


async def complete(
    _: PromptReference | ResourceTemplateReference, argument: CompletionArgument, __: CompletionContext | None
) -> Completion | None:
    """Ids of workflows that begin with what is typed."""
    if argument.name != "workflow_id":
        return None
    try:
        page = await client().async_list_workflows(q=argument.value or None, limit=LISTED)
    except (SnapStateError, ToolError):
        return None
    return Completion(values=[one.workflow_id for one in page.workflows], has_more=page.has_more)


def add_to(server: MCPServer[Callers]) -> None:
    listed: Any = server.resource("snapstate://workflows", name="workflows", title="Recent workflows", mime_type=JSON)
    listed(recent_workflows)
    one: Any = server.resource(
        "snapstate://workflows/{workflow_id}",
        name="workflow",
        title="A workflow's newest checkpoint",
        mime_type=JSON,
        security=ANY_TEXT,
    )
    one(workflow)
    completed: Any = server.completion
    completed()(complete)
