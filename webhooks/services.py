"""What changes endpoints, and sends again. Nothing is sent here: a delivery that is due is a row that says so."""

import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.services import locked
from snapstate_project.common.audit import record
from webhooks.errors import DeliveryNotFound, EndpointDisabled, EndpointNotFound, TooManyEndpoints
from webhooks.messages import TEST, message
from webhooks.models import KEPT, Delivery, Endpoint
from webhooks.signing import new_secret

MOST_ENDPOINTS = 100
PRUNED_AT_ONCE = 10_000
RESENT_AT_ONCE = 1_000
SWEPT_AFTER = timedelta(hours=1)  # longer than a relay that still knew it can take
BY_OWNER, BY_OPERATOR = "by its owner", "by an operator"


@transaction.atomic
def register_endpoint(
    account_id: UUID, *, url: str, events: Iterable[str], secret: str = "", description: str = ""
) -> Endpoint:
    """Raises TooManyEndpoints, exactly, for the account's row is held."""
    locked(account_id)
    if Endpoint.objects.of(account_id).count() >= MOST_ENDPOINTS:
        raise TooManyEndpoints(MOST_ENDPOINTS)
    return Endpoint.objects.create(
        account_id=account_id,
        url=url,
        events=list(dict.fromkeys(events)),
        description=description,
        secret=secret or new_secret(),
        created_at=timezone.now(),
    )


def endpoint_of(account_id: UUID, webhook_id: str, *, lock: bool = False) -> Endpoint:
    """Raises EndpointNotFound, for another account's too."""
    found = Endpoint.objects.of(account_id).filter(webhook_id=webhook_id)
    endpoint = (found.select_for_update(no_key=True) if lock else found).first()
    if endpoint is None:
        raise EndpointNotFound
    return endpoint


@transaction.atomic
def change_endpoint(account_id: UUID, webhook_id: str, **changes: Any) -> Endpoint:
    """Sets any of url, events, description, status. A new URL begins with a clean record."""
    endpoint = endpoint_of(account_id, webhook_id, lock=True)
    status = changes.pop("status", endpoint.status)
    if changes.get("url", endpoint.url) != endpoint.url:
        endpoint.failing_since, endpoint.slow = None, False
    for field, value in changes.items():
        setattr(endpoint, field, value)
    if status != endpoint.status:
        _set_status(endpoint, status, BY_OWNER)
    endpoint.save()
    return endpoint


def _set_status(endpoint: Endpoint, status: str, reason: str) -> None:
    is_disabled = status == Endpoint.Status.DISABLED
    endpoint.status, endpoint.failing_since = status, None
    endpoint.disabled_at = timezone.now() if is_disabled else None
    endpoint.disabled_reason = reason if is_disabled else ""


def disable_endpoint(endpoint: Endpoint, *, reason: str = "") -> None:
    """As an operator; its owner is told the reason."""
    _switch(endpoint, Endpoint.Status.DISABLED, f"{BY_OPERATOR}: {reason}" if reason else BY_OPERATOR)


def enable_endpoint(endpoint: Endpoint) -> None:
    """As an operator."""
    _switch(endpoint, Endpoint.Status.ACTIVE, "")


@transaction.atomic
def _switch(endpoint: Endpoint, status: str, reason: str) -> None:
    held = Endpoint.objects.existing().select_for_update(no_key=True).filter(pk=endpoint.pk).first()
    if held is None:
        raise EndpointNotFound
    if held.status == status:
        return
    before = {"status": held.status, "disabled_reason": held.disabled_reason}
    _set_status(held, status, reason)
    held.save()
    after = {"status": held.status, "disabled_reason": held.disabled_reason}
    record(held, f"Set to {status}.", before=before, after=after)


@transaction.atomic
def rotate_secret(account_id: UUID, webhook_id: str, secret: str = "") -> Endpoint:
    """The one it had also signs for 24 hours."""
    endpoint = endpoint_of(account_id, webhook_id, lock=True)
    endpoint.replace_secret(secret or new_secret(), timezone.now())
    endpoint.save()
    return endpoint


@transaction.atomic
def delete_endpoint(account_id: UUID, webhook_id: str) -> None:
    """Gone for everybody at once. Its deliveries go with the next sweep; none is sent."""
    endpoint = endpoint_of(account_id, webhook_id, lock=True)
    endpoint.status, endpoint.disabled_at = Endpoint.Status.DELETED, timezone.now()
    endpoint.url = endpoint.secret = endpoint.description = endpoint.disabled_reason = ""
    endpoint.events, endpoint.former_secrets = [], []
    endpoint.save()


@transaction.atomic
def send_test(account_id: UUID, webhook_id: str) -> Delivery:
    """A delivery like any other, of an event that nothing but this brings about. Raises EndpointDisabled."""
    endpoint, now, uid = endpoint_of(account_id, webhook_id, lock=True), timezone.now(), secrets.token_bytes(16)
    if endpoint.status != Endpoint.Status.ACTIVE:
        raise EndpointDisabled
    delivery = Delivery(endpoint=endpoint, event_uid=uid, event_type=TEST, next_attempt_at=now, created_at=now)
    delivery.body = message(TEST, uid, now, endpoint.webhook_id, {})
    delivery.save()
    return delivery


def resend(account_id: UUID, webhook_id: str, delivery_id: str) -> Delivery:
    """The same message once more, whatever became of it. Raises DeliveryNotFound, EndpointDisabled."""
    endpoint = endpoint_of(account_id, webhook_id)
    uid = uid_of(delivery_id)
    delivery = Delivery.objects.filter(endpoint=endpoint, event_uid=uid).first() if uid else None
    if delivery is None:
        raise DeliveryNotFound
    return resend_delivery(delivery)


def uid_of(delivery_id: str) -> bytes | None:
    prefix, _, digits = delivery_id.partition("_")
    try:
        uid = bytes.fromhex(digits)
    except ValueError:
        return None
    return uid if prefix == "dlv" and uid.hex() == digits and len(uid) == 16 else None


@transaction.atomic
def resend_delivery(delivery: Delivery) -> Delivery:
    """Due at once, with the whole schedule before it again."""
    held = Delivery.objects.select_for_update(of=("self",), no_key=True).select_related("endpoint")
    found = held.filter(pk=delivery.pk).first()
    if found is None:
        raise DeliveryNotFound
    if found.endpoint.status != Endpoint.Status.ACTIVE:
        raise EndpointDisabled
    found.status, found.tries, found.next_attempt_at = Delivery.Status.PENDING, 0, timezone.now()
    found.save(update_fields=["status", "tries", "next_attempt_at"])
    return found


def resend_window(endpoint: Endpoint, *, since: datetime, until: datetime, failed_only: bool = True) -> int:
    """Everything of it that was queued in that time and is over, due at once; how many. Raises EndpointDisabled."""
    if not Endpoint.objects.filter(pk=endpoint.pk, status=Endpoint.Status.ACTIVE).exists():
        raise EndpointDisabled
    over = [Delivery.Status.FAILED] if failed_only else [Delivery.Status.FAILED, Delivery.Status.DELIVERED]
    found = Delivery.objects.filter(
        endpoint=endpoint, created_at__gte=since, created_at__lte=until, status__in=over, next_attempt_at=None
    )
    count, last = 0, 0
    while ids := list(found.filter(id__gt=last).order_by("id").values_list("id", flat=True)[:RESENT_AT_ONCE]):
        count, last = count + _make_due(ids), ids[-1]
    return count


@transaction.atomic
def _make_due(ids: list[int]) -> int:
    """Locked by id, as everywhere."""
    held = Delivery.objects.filter(id__in=ids).select_for_update(of=("self",), no_key=True).order_by("id")
    return Delivery.objects.filter(id__in=[delivery.pk for delivery in held.only("pk")]).update(
        status=Delivery.Status.PENDING, tries=0, next_attempt_at=timezone.now()
    )


def prune_deliveries(*, now: datetime | None = None, batch: int = PRUNED_AT_ONCE) -> int:
    """Deliveries older than 30 days, and deleted endpoints with all of theirs; how many deliveries went."""
    now = now or timezone.now()
    gone = Endpoint.objects.filter(status=Endpoint.Status.DELETED, disabled_at__lt=now - SWEPT_AFTER)
    pruned = sum(_prune(Delivery.objects.filter(endpoint=endpoint), batch) for endpoint in gone)
    gone.filter(deliveries=None).delete()
    return pruned + _prune(Delivery.objects.all(), batch, created_at__lt=now - KEPT)


def _prune(deliveries: QuerySet[Delivery], batch: int, **old: datetime) -> int:
    """The lowest ids first, which are the oldest: no index on the time is needed, and each pass is short."""
    pruned = 0
    while True:
        lowest = deliveries.order_by("id").values("id")[:batch]
        count = Delivery.objects.filter(id__in=lowest, **old).delete()[0]
        pruned += count
        if not count:
            return pruned
