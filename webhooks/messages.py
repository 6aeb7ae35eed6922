"""What a receiver is sent: thin bodies that name what happened, never a state. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, get_args
from uuid import UUID

import msgspec

from snapstate_project.common.times import iso
from snapstate_project.events.catalogue import Body

EventName = Literal[
    "checkpoint.saved",
    "workflow.resumed",
    "workflow.completed",
    "workflow.failed",
    "workflow.expired",
    "workflow.archived",
    "quota.exceeded",
]
EVENTS: tuple[str, ...] = get_args(EventName)
TEST = "webhook.test"
encode = msgspec.json.Encoder().encode
INTERNAL = ("digest", "generation", "head_changed")


class Cut(NamedTuple):
    """An event's message, cut where the endpoint's id goes: it is written once, however many endpoints hear of it."""

    uid: bytes
    type: str
    account_id: UUID
    at: datetime
    digest: str
    generation: int
    before: str
    after: str


def event_id_of(uid: bytes) -> str:
    """Also the `webhook-id` it is sent with, so that it stays the same over attempts and resends."""
    return f"evt_{uid.hex()}"


def message(event_type: str, uid: bytes, at: datetime, webhook_id: str, data: Mapping[str, Any]) -> str:
    """The body as it is sent, for ever the same. `type` is Standard Webhooks' name for it, `event` the older one."""
    before, after = halves(event_type, uid, at, data)
    return f"{before}{webhook_id}{after}"


def halves(event_type: str, uid: bytes, at: datetime, data: Mapping[str, Any]) -> tuple[str, str]:
    """Around the endpoint's id. Nothing but `data` holds text that JSON would escape."""
    before = f'{{"type":"{event_type}","event_id":"{event_id_of(uid)}","timestamp":"{iso(at)}","webhook_id":"'
    return before, f'","event":"{event_type}","data":{encode(data).decode()}}}'


def cut_message(
    event_type: str, uid: bytes, account_id: UUID, at: datetime, digest: str, generation: int, body: Body
) -> Cut:
    return Cut(uid, event_type, account_id, at, digest, generation, *halves(event_type, uid, at, data_of(body)))


def data_of(body: Body) -> dict[str, Any]:
    """An event's fields as receivers know them: an error as one object, and nothing that only we understand."""
    fields = {name: value for name, value in msgspec.structs.asdict(body).items() if name not in INTERNAL}
    if "error_type" in fields:
        error_type, text = fields.pop("error_type"), fields.pop("error_message")
        fields["error"] = None if error_type is None else {"type": error_type, "message": text or ""}
    return fields
