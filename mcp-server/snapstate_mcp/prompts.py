"""A prompt that teaches an agent to work in checkpoints, and what is told to who asks for it wrongly."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.prompts import Prompt
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS
from pydantic import Field

from snapstate_mcp.arguments import kind_of, printable, shown, unknown
from snapstate_mcp.caller import Callers

TEXT = """\
Work on this task so that it can be interrupted at any moment and resumed by you or by another agent.

Task: {task}
Workflow id: {workflow_id}

Before you begin, call resume_workflow with this workflow id.
- `found` is true: somebody has begun. Its `state` is all there is to know; go on from there and repeat nothing. If its
  `status` is "completed", the task is done: say so and stop.
- `found` is false: begin. Make a plan, and save it as step 1.

After each step that you would not like to repeat, and before anything long or risky, call save_checkpoint with
- `step`: the `next_step` of the last answer;
- `state`: one JSON object with everything that another agent needs: the task, the plan, what is done, what was found
  (with sources), what is decided and why, and what comes next. It replaces the state before as a whole, so carry over
  what still matters, and leave out what does not; it has room for 1 MiB;
- `label`: what this step did, in a few words.

If it answers that the step holds other contents, another agent works on the same task: call resume_workflow, go on from
that state, and save under its `next_step`. If an answer does not come, or asks you to wait, call again with the very
same arguments: that is safe.

When the task is done, save a last checkpoint with `status` "completed"; if it cannot be done, one with "failed" and an
`error` that says why.\
"""


def checkpoint_as_you_go(
    workflow_id: Annotated[str, Field(description="Names the work; the same id resumes it.")],
    task: Annotated[str, Field(description="What is to be done.")],
) -> str:
    """Work on a task in checkpoints, so that it can be interrupted and resumed."""
    return TEXT.format(workflow_id=workflow_id, task=task)


PROMPTS = {one.name: one for one in [Prompt.from_function(checkpoint_as_you_go, title="Work in checkpoints")]}


def add_to(server: MCPServer[Callers]) -> None:
    for prompt in PROMPTS.values():
        server.add_prompt(prompt)


async def checked(ctx: ServerRequestContext[Callers, Any], call_next: CallNext) -> HandlerResult:
    """Around every request: the library answers a mistake of the caller's as a fault of ours, and logs it as one."""
    asked = ctx.params or {}
    name, given = asked.get("name"), asked.get("arguments") or {}
    if ctx.method == "prompts/get" and isinstance(name, str) and isinstance(given, Mapping):
        check(name, given)
    return await call_next(ctx)


def check(name: str, given: Mapping[str, Any]) -> None:
    """Raises what a client is told of a prompt that is not there, or that takes other arguments."""
    if name not in PROMPTS:
        raise mistake(f"There is no prompt {shown(name, secret=False)}. There are: {', '.join(PROMPTS)}.")
    if found := list(faults(PROMPTS[name], given)):
        raise mistake("\n".join([f"{name} cannot be used with these arguments; ask again with them mended:", *found]))


def faults(prompt: Prompt, given: Mapping[str, Any]) -> Iterator[str]:
    known = {one.name: one for one in prompt.arguments or []}
    for name, one in known.items():
        if one.required and name not in given:
            yield f"- {name}: is required and was not given."
    for name, value in given.items():
        if name not in known:
            yield unknown(name, list(known))
        elif not isinstance(value, str):
            yield f"- {name}: expected a string; got {kind_of(value)}."
        elif printable(value) != value:
            yield f"- {name}: has a lone surrogate, half a character that cannot be sent."


def mistake(reason: str) -> MCPError:
    return MCPError(INVALID_PARAMS, printable(reason))
