"""Stripe's events and objects as far as they are read, each member of the kind that Postgres takes; else refused."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec

from billing.errors import WebhookRefused

ENDED_UNPAID = ("payment_failed", "payment_disputed")
NO_NUL = r"^[^\x00]*$"

type Object = dict[str, Any]

Line = Annotated[str, msgspec.Meta(max_length=255, pattern=NO_NUL)]
Word = Annotated[str, msgspec.Meta(max_length=40, pattern=NO_NUL)]
Seconds = Annotated[int, msgspec.Meta(ge=0, le=253_402_300_799)]  # to the end of the year 9999
Amount = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Told(msgspec.Struct):
    object: Object


class SignedEvent(msgspec.Struct):
    id: Line
    object: Literal["event"]
    type: Annotated[str, msgspec.Meta(max_length=100, pattern=NO_NUL)]
    created: Seconds
    data: Told


class StripeInvoice(msgspec.Struct):
    id: Line
    created: Seconds
    currency: Annotated[str, msgspec.Meta(max_length=3, pattern=NO_NUL)]
    amount_due: Amount
    amount_paid: Amount
    period_start: Seconds
    period_end: Seconds
    customer: Line | None = None
    status: Word | None = None
    number: Annotated[str, msgspec.Meta(max_length=100, pattern=NO_NUL)] | None = None
    invoice_pdf: Annotated[str, msgspec.Meta(pattern=NO_NUL)] | None = None


class Cancellation(msgspec.Struct):
    reason: str | None = None


class StripeSubscription(msgspec.Struct):
    id: Line
    created: Seconds
    customer: Line
    status: Word
    cancellation_details: Cancellation | None = None


def as_shape[Shape](plain: Any, shape: type[Shape]) -> Shape:
    """Raises WebhookRefused: what Stripe has signed and we cannot read is no fault of ours."""
    try:
        return msgspec.convert(plain, shape)
    except msgspec.ValidationError as error:
        raise WebhookRefused(f"This event cannot be read: {error}.") from error


def invoice_fields(told: Object) -> Object:
    """As the mirror keeps them."""
    invoice = as_shape(told, StripeInvoice)
    return {
        "customer": invoice.customer or "",
        "status": invoice.status or "",
        "created_at": moment(invoice.created),
        "number": invoice.number or "",
        "currency": invoice.currency,
        "amount_due": invoice.amount_due,
        "amount_paid": invoice.amount_paid,
        "period_start": moment(invoice.period_start),
        "period_end": moment(invoice.period_end),
        "invoice_pdf": invoice.invoice_pdf,
    }


def subscription_fields(told: Object) -> Object:
    subscription = as_shape(told, StripeSubscription)
    ended = subscription.cancellation_details or Cancellation()
    return {
        "customer": subscription.customer,
        "status": subscription.status,
        "created_at": moment(subscription.created),
        "ended_unpaid": ended.reason in ENDED_UNPAID,
    }


def moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
