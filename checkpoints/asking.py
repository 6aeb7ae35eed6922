"""The other half of the scripts' ask: find out in Postgres what Redis alone cannot know, then call again."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from enum import Enum

import msgspec
from django.conf import settings
from django.utils import timezone

from checkpoints import history, segments
from checkpoints.content import Step, pack
from checkpoints.envelope import NewCheckpoint
from checkpoints.ids import WorkflowKey
from checkpoints.json_text import same_value
from checkpoints.models import Workflow
from checkpoints.segments import Place
from checkpoints.verdicts import Ask, Compare, Known, KnownStep, Range
from snapstate_project.common.errors import ServiceUnavailable
from snapstate_project.common.metrics import Counter
from snapstate_project.common.threads import in_thread

# Each further round means that somebody else moved the workflow meanwhile.
ROUNDS = 20

asks = Counter("snapstate_asks", "Questions of the scripts that Redis alone could not answer.", ("why",))


class Waking(Enum):
    """What to do with a workflow that is in the archive only."""

    LEAVE = "leave it there"
    HEAD = "make it hot, without its state"
    STATE = "make it hot"


class Cold(msgspec.Struct, frozen=True):
    """The workflow is in the archive only, and was left there."""

    workflow: Workflow


class Fetch(msgspec.Struct, frozen=True):
    """What is known depends on a step in the archive: `then` says it, given that step."""

    place: Place
    then: Callable[[Step], Known]


async def settled[Reply](
    key: WorkflowKey,
    call: Callable[[bytes], Awaitable[Reply | Ask | Compare]],
    *,
    waking: Waking,
    new: NewCheckpoint | None = None,
) -> Reply | Cold:
    """The script's verdict. `call` runs it with what is known; `new` is the save that a step is compared with."""
    known = b""
    for _ in range(ROUNDS):
        reply = await call(known)
        if isinstance(reply, Ask):
            asks.count(reply.why)
            learnt = await in_thread(learn, key, reply, waking, new)
            if isinstance(learnt, Cold):
                return learnt
            if isinstance(learnt, Fetch):
                learnt = await in_thread(learnt.then, *await segments.fetch([learnt.place]))
            known = learnt.packed()
        elif isinstance(reply, Compare):
            known = Known(compared=reply.step.sequence, same=same_content(reply.step, new)).packed()
        else:
            return reply
    raise ServiceUnavailable("The workflow is changing too fast to be read; try again.")


def learn(key: WorkflowKey, ask: Ask, waking: Waking, new: NewCheckpoint | None) -> Known | Cold | Fetch:
    """What the colder tiers say to a question, together with the basis it was asked on."""
    if ask.why == "head" or new is None:
        return _learn_head(key, ask.basis, waking)
    with history.snapshot():
        workflow = history.find(key)
        if workflow is None:
            return Known(trim=int(ask.basis))
        wanted = Range(first=new.step, last=new.step)
        steps, _ = history.steps_in(workflow, wanted)
        places = [] if steps else segments.places(workflow.pk, workflow.generation, wanted)
    known = Known(gen=workflow.generation, trim=int(ask.basis), step=_verdict(steps[0], new) if steps else None)
    return _archived_verdict(places[0], new, known) if places else known


def _learn_head(key: WorkflowKey, basis: str, waking: Waking) -> Known | Cold | Fetch:
    if not history.knows(key):
        return Known(basis=basis)
    with history.snapshot():
        workflow = history.find(key)
        if workflow is None:
            return Known(basis=basis)
        known = Known(basis=basis, gen=workflow.generation, last=workflow.last_sequence, ver=workflow.version)
        if workflow.head_step is None:
            return known
        if workflow.is_cold and basis == "-" and waking is Waking.LEAVE:
            return Cold(workflow)
        wanted = Range(first=workflow.head_step, last=workflow.head_step)
        steps, _ = history.steps_in(workflow, wanted)
        places = [] if steps else segments.places(workflow.pk, workflow.generation, wanted)
    if places and waking is Waking.STATE:
        known.source = "archive"
        return Fetch(places[0], lambda step: _with_head(known, workflow, step))
    return _with_head(known, workflow, steps[0] if steps else None)


def _with_head(known: Known, workflow: Workflow, step: Step | None) -> Known:
    if workflow.is_cold and not _stay_hot(workflow):
        return Known()  # it has moved since it was read: the script asks again
    known.ver = workflow.version
    known.head = history.known_head(workflow, step)
    known.content = pack(step.envelope, step.metadata, step.state) if step else b""
    return known


def _stay_hot(workflow: Workflow) -> bool:
    """Set when it leaves Redis again, before it is put there: no crash in between can make it stay for ever."""
    ttl = settings.DEFAULT_TTL_SECONDS if workflow.ttl_seconds is None else workflow.ttl_seconds
    read, workflow.evict_at = workflow.version, timezone.now() + timedelta(seconds=ttl)
    workflow.version += 1
    unmoved = Workflow.objects.filter(pk=workflow.pk, generation=workflow.generation, version=read)
    return bool(unmoved.update(evict_at=workflow.evict_at, version=workflow.version))


def _verdict(step: Step, new: NewCheckpoint) -> KnownStep:
    same = same_content(step, new)
    return KnownStep(seq=step.sequence, size=step.size, digest=step.digest, guard=step.guard, at=step.at, same=same)


def _archived_verdict(place: Place, new: NewCheckpoint, known: Known) -> Known | Fetch:
    """By its digest, if that settles it; else by its bytes, which have to be fetched."""
    entry, digest = place.entry, place.entry.digest.hex()

    def verdict(same: bool) -> Known:
        known.step = KnownStep(entry.sequence, entry.size, digest, entry.guard, entry.at, same)
        return known

    return verdict(True) if digest == new.digest else Fetch(place, lambda step: verdict(same_content(step, new)))


def same_content(step: Step, new: NewCheckpoint | None) -> bool:
    """Whether a save says what a stored step says: equal bytes, or equal JSON values in equal envelopes."""
    if new is None or step.envelope != new.envelope or bool(step.metadata) != bool(new.metadata):
        return False
    return step.digest == new.digest or (
        (not new.metadata or same_value(step.metadata, new.metadata)) and same_value(step.state, new.state)
    )
