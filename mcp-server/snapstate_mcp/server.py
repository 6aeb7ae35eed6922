"""The bridge as one MCP server: its tools, resources and prompt, whatever it is spoken to over."""

import json
import logging
import time
from contextlib import AbstractAsyncContextManager
from importlib.metadata import version
from inspect import getdoc
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel
from snapstate_sdk.errors import SnapStateError

from snapstate_mcp import over_stdio, prompts, resources, tools
from snapstate_mcp.arguments import printable, read_arguments, schema_of
from snapstate_mcp.caller import Callers, as_caller, caller, opened
from snapstate_mcp.mending import told

logger = logging.getLogger(__name__)

NAME = "snapstate"
INSTRUCTIONS = """\
SnapState keeps the state of long work, so that it survives restarts and can be handed to another agent.

1. Before any work that may have been begun earlier, call resume_workflow with the id of the work.
2. After each step worth not repeating, call save_checkpoint: `step` is the `next_step` of the last answer, `state` is
   one JSON object with everything needed to go on: plan, what is done, results, what comes next. It replaces the state
   before as a whole.
3. When the work is done, save a last checkpoint with `status` "completed"; when it is given up, "failed".

An answer of save_checkpoint without an error means that the checkpoint is safe. Calling again after an unclear outcome
changes nothing more. Ids may be any text; keep one id for one piece of work.\
"""
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
RENEWS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


class BridgeTool(Tool):
    """A tool whose mistakes are told so that they can be mended, and whose answer is compact JSON."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        given = read_arguments(self.fn_metadata.arg_model, arguments)
        began = time.monotonic()
        try:
            answer = as_result(await self.fn(**given))
        except SnapStateError as error:
            logger.info("%s: %s, request %s", self.name, type(error).__name__, error.request_id or "never sent")
            raise ToolError(printable(await told(error, caller(), given))) from None
        except ToolError:
            raise
        except Exception as error:  # its words may hold anything, and go into no answer
            raise UnexpectedToolError(
                f"{self.name} failed by a fault of this MCP server; its log says where."
            ) from error
        logger.info("%s: answered in %.0f ms", self.name, 1000 * (time.monotonic() - began))
        return answer


def as_result(answer: BaseModel) -> CallToolResult:
    content = answer.model_dump(mode="json")
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=content)


def tool(function: Any, title: str, annotations: ToolAnnotations) -> Tool:
    made = BridgeTool.from_function(
        function, title=title, description=getdoc(function), annotations=annotations, structured_output=True
    )
    made.parameters = schema_of(made.parameters)
    return made


def all_tools() -> list[Tool]:
    return [
        tool(tools.save_checkpoint, "Save a checkpoint", ADDS),
        tool(tools.resume_workflow, "Resume a workflow", READS),
        tool(tools.get_workflow_history, "Read a workflow's history", READS),
        tool(tools.register_agent, "Register an agent", RENEWS),
        tool(tools.list_workflows, "List workflows", READS),
    ]


class Bridge(MCPServer[Callers]):
    """`key`: of all calls (stdio); None where each request brings its own (HTTP)."""

    def __init__(self, api_url: str, key: str | None) -> None:
        def lifespan(_: MCPServer[Callers]) -> AbstractAsyncContextManager[Callers]:
            return opened(api_url, key)

        super().__init__(
            NAME,
            title="SnapState",
            description="The place where AI agents keep their state.",
            instructions=INSTRUCTIONS,
            version=version("snapstate-mcp"),
            tools=all_tools(),
            lifespan=lifespan,
            middleware=[as_caller, prompts.checked],
            subscriptions=False,
        )
        resources.add_to(self)
        prompts.add_to(self)

    async def run_stdio_async(self) -> None:
        server = self._lowlevel_server
        options = server.create_initialization_options()
        await over_stdio.serve(lambda receive, send: server.run(receive, send, options))
