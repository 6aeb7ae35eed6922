"""What Stripe tells: verified over the raw body, each event once, an object only ever as its newest event has it."""

from collections.abc import Callable
from typing import Any

import orjson
import stripe
from django.conf import settings
from django.db import transaction

from billing.errors import StripeAway, WebhookRefused
from billing.models import Invoice, StripeEvent, Subscription
from billing.stripe_client import client
from billing.stripe_events import Object, SignedEvent, as_shape, invoice_fields, moment, subscription_fields
from billing.stripe_states import settle_customer

PREVIEW = "upcoming_in_"
TOLERANCE_SECONDS = 300


def take(body: bytes, signature: str) -> None:
    """Raises WebhookRefused; StripeAway or RedisDown when Stripe should send the event again."""
    event = verified(body, signature)
    if StripeEvent.objects.filter(pk=event.id).exists():
        return
    told = event.data.object
    match told.get("object") if is_there(told, event.type) else None:
        case "invoice":
            mirror(Invoice, event, invoice_fields)
        case "subscription":
            mirror(Subscription, event, subscription_fields)
            settle_customer(told["customer"])
    # Last: an event that was dealt with in part comes again, and nothing above minds.
    row = StripeEvent(id=event.id, type=event.type, created_at=moment(event.created))
    StripeEvent.objects.bulk_create([row], ignore_conflicts=True)


def verified(body: bytes, signature: str) -> SignedEvent:
    try:
        # Stripe's library compares signatures in constant time, and fails at any that is not ASCII.
        stripe.WebhookSignature.verify_header(
            body, signature if signature.isascii() else "", settings.STRIPE_WEBHOOK_SECRET, TOLERANCE_SECONDS
        )
        return as_shape(orjson.loads(body), SignedEvent)
    except (stripe.SignatureVerificationError, ValueError) as error:
        raise WebhookRefused from error


def is_there(told: Object, kind: str) -> bool:
    """Not so an invoice that is only foreseen: it has no id, or one by which nothing is found."""
    name = told.get("id")
    return kind != "invoice.upcoming" and isinstance(name, str) and name != "" and not name.startswith(PREVIEW)


def mirror(model: type[Invoice | Subscription], event: SignedEvent, fields_of: Callable[[Object], Object]) -> None:
    """Later events win. Two of one second, which is as fine as Stripe's clock is, are settled by asking Stripe."""
    told, at = event.data.object, event.created
    gone = event.type == "invoice.deleted"
    fields = {**fields_of(told), **({"status": Invoice.DELETED} if gone else {})}
    with transaction.atomic():
        row, new = model.objects.select_for_update().get_or_create(pk=told["id"], defaults={**fields, "told_at": at})
        same = all(getattr(row, name) == value for name, value in fields.items())
        if new or same or at < row.told_at or row.status == Invoice.DELETED:
            return
        if at == row.told_at and not gone:
            fields = fields_of(asked(model, row.pk))  # under the row's lock, so that nobody writes an older answer
        model.objects.filter(pk=row.pk).update(**fields, told_at=at)


def asked(model: type[Invoice | Subscription], object_id: str) -> Object:
    """The object as it is now."""
    try:
        found: Any = (
            client().v1.invoices.retrieve(object_id)
            if model is Invoice
            else client().v1.subscriptions.retrieve(object_id)
        )
    except stripe.StripeError as error:
        raise StripeAway from error
    plain: Object = found.to_dict()
    return plain
