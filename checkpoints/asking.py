"""The other half of the scripts' ask: find out in Postgres what Redis alone cannot know, then call again."""

from collections.abc import Awaitable, Callable

from checkpoints import history
from checkpoints.content import Step
from checkpoints.envelope import NewCheckpoint
from checkpoints.ids import WorkflowKey
from checkpoints.json_text import same_value
from checkpoints.verdicts import Ask, Compare, Known, KnownStep, Range
from snapstate_project.common.errors import ServiceUnavailable
from snapstate_project.common.threads import in_thread

# Each further round means that somebody else moved the workflow meanwhile.
ROUNDS = 20


async def settled[Reply](
    key: WorkflowKey,
    call: Callable[[bytes], Awaitable[Reply | Ask | Compare]],
    new: NewCheckpoint | None = None,
) -> Reply:
    """The script's verdict. `call` runs it with what is known; `new` is the save that a step is compared with."""
    known = b""
    for _ in range(ROUNDS):
        reply = await call(known)
        if isinstance(reply, Ask):
            known = (await in_thread(learn, key, reply, new)).packed()
        elif isinstance(reply, Compare):
            known = Known(compared=reply.step.sequence, same=same_content(reply.step, new)).packed()
        else:
            return reply
    raise ServiceUnavailable("The workflow is changing too fast to be read; try again.")


def learn(key: WorkflowKey, ask: Ask, new: NewCheckpoint | None) -> Known:
    """What Postgres says to a question, together with the basis it was asked on."""
    with history.snapshot():
        workflow = history.find(key)
        if workflow is None:
            return Known(basis=ask.basis) if ask.why == "head" else Known(trim=int(ask.basis))
        if ask.why == "head":
            head, content = history.known_head(workflow)
            return Known(
                basis=ask.basis, gen=workflow.generation, last=workflow.last_sequence, head=head, content=content
            )
        if ask.why == "entry" or new is None:
            return Known(entry=int(ask.basis))
        steps, _ = history.steps_in(workflow, Range(first=new.step, last=new.step))
        return Known(gen=workflow.generation, trim=int(ask.basis), step=_verdict(steps[0], new) if steps else None)


def _verdict(step: Step, new: NewCheckpoint) -> KnownStep:
    return KnownStep(
        seq=step.sequence,
        size=len(step.state),
        digest=step.digest,
        guard=step.guard,
        at=step.at,
        same=same_content(step, new),
    )


def same_content(step: Step, new: NewCheckpoint | None) -> bool:
    """Whether a save says what a stored step says: equal bytes, or equal JSON values in equal envelopes."""
    if new is None or step.envelope != new.envelope or bool(step.metadata) != bool(new.metadata):
        return False
    return step.digest == new.digest or (
        (not new.metadata or same_value(step.metadata, new.metadata)) and same_value(step.state, new.state)
    )
