"""Every event type with its fields, a workflow's `digest` first; `Event.data` is one of these as JSON text, only."""

from collections.abc import Mapping
from typing import Any

import msgspec


class CheckpointSaved(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A 201: a step appended, kept below the head, or the head replaced. Erased: no user text is left in it."""

    digest: str
    generation: int
    sequence: int
    step: int
    size_bytes: int
    workflow_id: str = ""
    checkpoint_id: str = ""
    etag: str = ""
    label: str | None = None
    agent_id: str | None = None
    status: str = "active"
    replaced: bool = False
    head_changed: bool = True
    error_type: str | None = None
    error_message: str | None = None


class WorkflowResumed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A resume that was answered with a checkpoint; `source` is the tier that held it."""

    digest: str
    generation: int
    workflow_id: str = ""
    agent_id: str | None = None
    source: str = "hot"
    checkpoint_id: str = ""
    step: int = 0
    etag: str = ""
    sequence: int = 0


class WorkflowReplayed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answered replay page of a known workflow, with the number of checkpoints in it."""

    digest: str
    generation: int
    count: int
    workflow_id: str = ""


class WorkflowCompleted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The head's status changed to completed."""

    digest: str
    generation: int
    sequence: int
    step: int
    workflow_id: str = ""
    checkpoint_id: str = ""
    etag: str = ""
    agent_id: str | None = None


class WorkflowFailed(WorkflowCompleted, frozen=True, kw_only=True, omit_defaults=True):
    """The head's status changed to failed."""

    error_type: str | None = None
    error_message: str | None = None


class WorkflowExpired(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The TTL ended and the workflow left the hot tier; `step`, `checkpoint_id` and `etag` are its head's."""

    digest: str
    generation: int
    sequence: int
    step: int
    workflow_id: str = ""
    checkpoint_id: str = ""
    etag: str = ""


class WorkflowArchived(WorkflowExpired, frozen=True, kw_only=True, omit_defaults=True):
    """Its segment is verified; `reason` is ttl or operator."""

    reason: str = "ttl"


class WorkflowErased(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything of the workflow below this generation is gone; subscribers drop what they hold of it."""

    digest: str
    generation: int


class QuotaExceeded(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An account's month ("2026-11") came to a threshold (percent) of a meter's free units: once each."""

    meter: str
    threshold: int
    month: str
    used: int | float
    free: int | float


type Body = (
    CheckpointSaved
    | WorkflowResumed
    | WorkflowReplayed
    | WorkflowCompleted
    | WorkflowFailed
    | WorkflowExpired
    | WorkflowArchived
    | WorkflowErased
    | QuotaExceeded
)

CATALOGUE: dict[str, type[Body]] = {
    "checkpoint.saved": CheckpointSaved,
    "workflow.resumed": WorkflowResumed,
    "workflow.replayed": WorkflowReplayed,
    "workflow.completed": WorkflowCompleted,
    "workflow.failed": WorkflowFailed,
    "workflow.expired": WorkflowExpired,
    "workflow.archived": WorkflowArchived,
    "workflow.erased": WorkflowErased,
    "quota.exceeded": QuotaExceeded,
}

_ENCODER = msgspec.json.Encoder()
_DECODERS: dict[str, msgspec.json.Decoder[Any]] = {
    name: msgspec.json.Decoder(fields) for name, fields in CATALOGUE.items()
}


def encode(body: Body) -> str:
    """The JSON text that stands in `Event.data`."""
    return _ENCODER.encode(body).decode()


def decode(event_type: str, data: str) -> Body:
    """The fields of an event; fields this release does not know are passed over. KeyError: an unknown type."""
    body: Body = _DECODERS[event_type].decode(data)
    return body


_TEXTS: dict[str, Any] = dict.fromkeys(("workflow_id", "checkpoint_id", "etag", "error_type", "error_message"), "")
_TEXTS |= {"label": None, "agent_id": None}


def without_texts[Event: Body](body: Event) -> Event:
    """What is left of an event when its workflow is erased: all that is counted by, and nothing that a customer wrote.

    Whether there was an error stays to be seen.
    """
    written = {name: text for name, text in _TEXTS.items() if getattr(body, name, None) is not None}
    return msgspec.structs.replace(body, **written)


def fields_of(event_type: str, data: Body | Mapping[str, Any]) -> Body:
    """`data` checked against the catalogue. KeyError: an unknown type; msgspec.ValidationError: wrong fields."""
    return msgspec.convert(data, CATALOGUE[event_type], from_attributes=False)
