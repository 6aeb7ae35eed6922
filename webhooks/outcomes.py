"""What comes of an attempt: delivered, tried again later, or given up; and what it says of the endpoint."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import structlog
from django.db import transaction

from snapstate_project.common.times import iso
from webhooks.claims import Parcel
from webhooks.models import Delivery, Endpoint
from webhooks.retries import has_failed_too_long, next_attempt_at
from webhooks.sender import Answer

SLOW_SECONDS = 3.0
GONE = 410
ITS_RECEIVER_IS_GONE = "its receiver answered 410"
FAILED_FOR_DAYS = "it failed for five days"

log = structlog.get_logger(__name__)


class Outcome(NamedTuple):
    parcel: Parcel
    sent_at: datetime
    answer: Answer


@transaction.atomic
def record(outcomes: Sequence[Outcome], now: datetime) -> None:
    """Deliveries by id, then endpoints by id. What was erased meanwhile stays erased."""
    by_id = {outcome.parcel.id: outcome for outcome in outcomes}
    rows = Delivery.objects.select_for_update(no_key=True).filter(id__in=by_id).defer("body").order_by("id")
    tries: dict[int, int] = {}
    for delivery in rows:
        outcome = by_id[delivery.pk]
        note_attempt(delivery, outcome, now)
        tries[delivery.endpoint_id] = max(delivery.tries, tries.get(delivery.endpoint_id, 0))
    latest = {outcome.parcel.due.endpoint_id: outcome for outcome in outcomes}
    for endpoint_id in sorted(latest):
        answers = [each.answer for each in outcomes if each.parcel.due.endpoint_id == endpoint_id]
        note_health(endpoint_id, answers, tries.get(endpoint_id, 0), now)


def note_attempt(delivery: Delivery, outcome: Outcome, now: datetime) -> None:
    """The schedule moves only while the claim holds: it does not when an owner sent the delivery again meanwhile."""
    answer = outcome.answer
    delivery.note(shown(outcome))
    if delivery.next_attempt_at == outcome.parcel.lease:
        delivery.tries += 1
        if answer.is_success:
            delivery.status, delivery.next_attempt_at = Delivery.Status.DELIVERED, None
        else:
            is_over = answer.status_code == GONE
            following = None if is_over else next_attempt_at(delivery.tries, now, answer.retry_after)
            delivery.next_attempt_at = following
            delivery.status = Delivery.Status.PENDING if following else Delivery.Status.FAILED
    delivery.save(update_fields=["attempts", "tries", "status", "next_attempt_at"])


def shown(outcome: Outcome) -> dict[str, Any]:
    answer = outcome.answer
    return {
        "at": iso(outcome.sent_at),
        "status_code": answer.status_code,
        "duration_ms": round(answer.seconds * 1000),
        "error": answer.error,
        "response": answer.response,
    }


def note_health(endpoint_id: int, answers: Sequence[Answer], tries: int, now: datetime) -> None:
    """`answers` of one endpoint, in the order they came. One success ends a failing time."""
    endpoint = Endpoint.objects.select_for_update(no_key=True).filter(pk=endpoint_id).first()
    if endpoint is None or endpoint.status != Endpoint.Status.ACTIVE:
        return
    before = (endpoint.slow, endpoint.failing_since)
    endpoint.slow = answers[-1].seconds >= SLOW_SECONDS
    has_succeeded = any(answer.is_success for answer in answers)
    endpoint.failing_since = None if has_succeeded else endpoint.failing_since or now
    if any(answer.status_code == GONE for answer in answers):
        disable(endpoint, ITS_RECEIVER_IS_GONE, now)
    elif has_failed_too_long(endpoint.failing_since, tries, now):
        disable(endpoint, FAILED_FOR_DAYS, now)
    elif before == (endpoint.slow, endpoint.failing_since):
        return
    endpoint.save(update_fields=["slow", "failing_since", "status", "disabled_at", "disabled_reason", "updated_at"])


def disable(endpoint: Endpoint, reason: str, now: datetime) -> None:
    """Operators hear of it by an error in the log, and see it in the admin."""
    endpoint.status, endpoint.disabled_at, endpoint.disabled_reason = Endpoint.Status.DISABLED, now, reason
    log.error("webhook_disabled", webhook_id=endpoint.webhook_id, account_id=str(endpoint.account_id), reason=reason)
