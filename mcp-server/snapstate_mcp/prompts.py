"""A prompt that teaches an agent to work in checkpoints."""

from typing import Annotated

from mcp.server import MCPServer
from pydantic import Field

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


def add_to(server: MCPServer[Callers]) -> None:
    server.prompt(title="Work in checkpoints")(checkpoint_as_you_go)
