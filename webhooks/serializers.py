"""Every field of this room's requests and answers."""

from typing import Annotated, Any, Literal

import msgspec

from snapstate_project.common.times import iso
from webhooks.messages import EventName
from webhooks.models import Delivery, Endpoint

Status = Annotated[Literal["active", "disabled"], msgspec.Meta(title="WebhookStatus")]
DeliveryStatus = Annotated[Literal["pending", "delivered", "failed"], msgspec.Meta(title="DeliveryStatus")]
Event = Annotated[EventName, msgspec.Meta(title="WebhookEventType")]
Moment = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]
SCHEME = "^[Hh][Tt][Tt][Pp][Ss]?://"  # in either case, as everywhere; a schema has no flag for that
Url = Annotated[
    str,
    msgspec.Meta(
        max_length=2_048,
        extra_json_schema={"format": "uri", "pattern": SCHEME, "description": "https outside development."},
    ),
]
Events = Annotated[list[Event], msgspec.Meta(min_length=1, max_length=50)]
PRINTED = r"[^\u0000-\u001f\u007f-\u009f]"
BASE64 = "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)"
Description = Annotated[str, msgspec.Meta(max_length=500, extra_json_schema={"pattern": f"^{PRINTED}*$"})]
Secret = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=256,
        extra_json_schema={"pattern": f"^(whsec_{BASE64}|(?!whsec_){PRINTED}+)$"},
    ),
]


class WebhookRegistration(msgspec.Struct, forbid_unknown_fields=True):
    """`secret`: after `whsec_` base64, anything else as it is; made by us when it is left out."""

    url: Url
    events: Events
    secret: Secret | None = None
    description: Description | None = None


class WebhookChanges(msgspec.Struct, forbid_unknown_fields=True):
    url: Url | msgspec.UnsetType = msgspec.UNSET
    events: Events | msgspec.UnsetType = msgspec.UNSET
    description: Description | msgspec.UnsetType | None = msgspec.UNSET
    status: Status | msgspec.UnsetType = msgspec.UNSET


class SecretRequest(msgspec.Struct, forbid_unknown_fields=True):
    secret: Secret | None = None


class Webhook(msgspec.Struct):
    webhook_id: str
    url: str
    events: list[Event]
    description: str
    status: Status
    disabled_reason: str | None
    failing_since: Moment | None
    created_at: Moment


class WebhookWithSecret(Webhook):
    """The secret is shown here and never again."""

    secret: str


class WebhookList(msgspec.Struct):
    webhooks: list[Webhook]
    has_more: bool
    next_cursor: str | None


class DeliveryAttempt(msgspec.Struct):
    """`response`: how the answer's body begins; `error`: why there was no answer, or none that counts."""

    at: Moment
    status_code: int | None
    duration_ms: int
    error: str | None
    response: str


class WebhookDelivery(msgspec.Struct):
    delivery_id: str
    event_id: str
    event: str
    status: DeliveryStatus
    created_at: Moment
    next_attempt_at: Moment | None
    attempts: list[DeliveryAttempt]


class DeliveryList(msgspec.Struct):
    deliveries: list[WebhookDelivery]
    has_more: bool
    next_cursor: str | None


class NoFields(msgspec.Struct, forbid_unknown_fields=True):
    """A body that nothing is asked of."""


def webhook(endpoint: Endpoint) -> Webhook:
    return Webhook(**fields_of(endpoint))


def webhook_with_secret(endpoint: Endpoint) -> WebhookWithSecret:
    return WebhookWithSecret(**fields_of(endpoint), secret=endpoint.secret)


def fields_of(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "webhook_id": endpoint.webhook_id,
        "url": endpoint.url,
        "events": endpoint.events,
        "description": endpoint.description,
        "status": endpoint.status,
        "disabled_reason": endpoint.disabled_reason or None,
        "failing_since": iso(endpoint.failing_since) if endpoint.failing_since else None,
        "created_at": iso(endpoint.created_at),
    }


def delivery_shown(delivery: Delivery) -> WebhookDelivery:
    return WebhookDelivery(
        delivery_id=delivery.delivery_id,
        event_id=delivery.event_id,
        event=delivery.event_type,
        status=delivery.status,  # type: ignore[arg-type]  # Django's choices are text to mypy
        created_at=iso(delivery.created_at),
        next_attempt_at=iso(delivery.next_attempt_at) if delivery.next_attempt_at else None,
        attempts=[DeliveryAttempt(**attempt) for attempt in delivery.attempts],
    )
