"""What comes of an attempt: delivered, tried again later, or given up; and what it says of the endpoint."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
import structlog
from django.db import connection, transaction

from snapstate_project.common.times import iso
from webhooks.claims import Parcel
from webhooks.models import ATTEMPTS_KEPT, Delivery, Endpoint
from webhooks.retries import has_failed_too_long, next_attempt_at
from webhooks.sender import Answer

SLOW_SECONDS = 3.0
GONE = 410
ITS_RECEIVER_IS_GONE = "its receiver answered 410"
FAILED_FOR_DAYS = "it failed for five days"
FAULT_OF_OURS = "a fault of ours: it is tried again"

# The schedule moves only while the claim holds: it does not when an owner had the delivery sent again meanwhile.
# An attempt that is there already was written down just before the connection broke.
HOLD = "SELECT FROM webhooks_delivery WHERE id = ANY (%s) ORDER BY id FOR NO KEY UPDATE"
NOTE = """
    UPDATE webhooks_delivery delivery SET
        attempts = CASE WHEN jsonb_array_length(attempts) >= %s THEN attempts - 0 ELSE attempts END || attempt::jsonb,
        tries = CASE WHEN next_attempt_at = lease THEN now_tries ELSE tries END,
        status = CASE WHEN next_attempt_at = lease THEN now_status ELSE status END,
        next_attempt_at = CASE WHEN next_attempt_at = lease THEN following ELSE next_attempt_at END
    FROM unnest(%s::bigint[], %s::timestamptz[], %s::text[], %s::int[], %s::text[], %s::timestamptz[])
        AS outcome (id, lease, attempt, now_tries, now_status, following)
    WHERE delivery.id = outcome.id AND NOT attempts @> jsonb_build_array(attempt::jsonb)
"""
# Of the newest deliveries alone, for each of them is read: who has more than these waiting is soon heard of again.
LAST_SUCCESS = """
    SELECT max((sent_at #>> '{}')::timestamptz)
    FROM (SELECT attempts FROM webhooks_delivery WHERE endpoint_id = %s ORDER BY id DESC LIMIT %s) newest,
        jsonb_path_query(attempts, '$[*] ? (@.status_code >= 200 && @.status_code < 300).at') sent_at
"""
LOOKED_AT = 100

encode = msgspec.json.Encoder().encode
log = structlog.get_logger(__name__)


class Outcome(NamedTuple):
    parcel: Parcel
    sent_at: datetime
    answer: Answer


def write_down(outcomes: Sequence[Outcome], now: datetime) -> None:
    """All at once; one by one where that fails, so that none costs another its own.

    One that cannot be written down counts as a failed attempt: it comes again on schedule, and not for ever.
    Raises only while there is no database: all of them may be given again then.
    """
    differ = len({outcome.parcel.id for outcome in outcomes}) == len(outcomes)  # a statement changes a row once
    if differ and is_recorded(outcomes, now):
        return
    for outcome in outcomes:
        if not is_recorded([outcome], now):
            is_recorded([outcome._replace(answer=Answer(error=FAULT_OF_OURS))], now)


def is_recorded(outcomes: Sequence[Outcome], now: datetime) -> bool:
    try:
        record(outcomes, now)
    except Exception:
        if not connection.is_usable():
            raise
        log.exception("recording_failed", deliveries=[outcome.parcel.id for outcome in outcomes])
        return False
    return True


@transaction.atomic
def record(outcomes: Sequence[Outcome], now: datetime) -> None:
    """Deliveries by id, then endpoints by id. What was erased meanwhile stays erased."""
    columns = zip(*(row_of(outcome, now) for outcome in outcomes), strict=True)
    with connection.cursor() as cursor:
        cursor.execute(HOLD, [[outcome.parcel.id for outcome in outcomes]])
        cursor.execute(NOTE, [ATTEMPTS_KEPT, *map(list, columns)])
    of_endpoint: defaultdict[int, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        of_endpoint[outcome.parcel.due.endpoint_id].append(outcome)
    for endpoint in Endpoint.objects.filter(pk__in=of_endpoint, status=Endpoint.Status.ACTIVE).order_by("id"):
        if is_news(endpoint, of_endpoint[endpoint.pk], now):
            note_health(endpoint.pk, of_endpoint[endpoint.pk], now)


def row_of(outcome: Outcome, now: datetime) -> tuple[int, datetime, str, int, str, datetime | None]:
    """Id, lease, the attempt as JSON, tries, status, next attempt.

    A 410 is a failure like any other here: if it disables the endpoint, what is due of that is given up.
    """
    parcel, answer, tries = outcome.parcel, outcome.answer, outcome.parcel.tries + 1
    attempt = encode(shown(outcome)).decode()
    if answer.is_success:
        return parcel.id, parcel.lease, attempt, tries, Delivery.Status.DELIVERED, None
    following = next_attempt_at(tries, now, answer.retry_after)
    status = Delivery.Status.PENDING if following else Delivery.Status.FAILED
    return parcel.id, parcel.lease, attempt, tries, status, following


def shown(outcome: Outcome) -> dict[str, Any]:
    answer = outcome.answer
    return {
        "at": iso(outcome.sent_at),
        "status_code": answer.status_code,
        "duration_ms": round(answer.seconds * 1000),
        "error": answer.error,
        "response": answer.response,
    }


def is_news(endpoint: Endpoint, outcomes: Sequence[Outcome], now: datetime) -> bool:
    """Sets what the outcomes, in the order they came, say of an active endpoint; whether that is something new.

    One success ends a failing time. What another URL of before has answered, and what failed here, says nothing.
    """
    before = (endpoint.slow, endpoint.failing_since)
    telling = [each for each in outcomes if each.parcel.url == endpoint.url and each.answer.error != FAULT_OF_OURS]
    if not telling:
        return False
    failures = failures_that_stand(endpoint, telling)
    endpoint.slow = telling[-1].answer.seconds >= SLOW_SECONDS
    if any(outcome.answer.is_success for outcome in telling):
        endpoint.failing_since = None
    elif failures:
        endpoint.failing_since = endpoint.failing_since or now
    if any(outcome.answer.status_code == GONE for outcome in failures):
        disable(endpoint, ITS_RECEIVER_IS_GONE, now)
    elif has_failed_too_long(endpoint.failing_since, max(outcome.parcel.tries + 1 for outcome in telling), now):
        disable(endpoint, FAILED_FOR_DAYS, now)
    return endpoint.status != Endpoint.Status.ACTIVE or before != (endpoint.slow, endpoint.failing_since)


def failures_that_stand(endpoint: Endpoint, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those that no success, sent later, has overtaken. While it is known to be failing there was none."""
    failures = [outcome for outcome in outcomes if not outcome.answer.is_success]
    successes = [outcome.sent_at for outcome in outcomes if outcome.answer.is_success]
    if failures and endpoint.failing_since is None:
        with connection.cursor() as cursor:
            cursor.execute(LAST_SUCCESS, [endpoint.pk, LOOKED_AT])
            successes += [at for (at,) in cursor.fetchall() if at is not None]
    return [failure for failure in failures if all(failure.sent_at >= at for at in successes)]


def note_health(endpoint_id: int, outcomes: Sequence[Outcome], now: datetime) -> None:
    """Judged again under its lock, for others may have changed it."""
    held = Endpoint.objects.select_for_update(no_key=True).filter(pk=endpoint_id, status=Endpoint.Status.ACTIVE)
    endpoint = held.first()
    if endpoint is None or not is_news(endpoint, outcomes, now):
        return
    endpoint.save(update_fields=["slow", "failing_since", "status", "disabled_at", "disabled_reason", "updated_at"])
    if endpoint.status == Endpoint.Status.DISABLED:
        name, account, reason = endpoint.webhook_id, str(endpoint.account_id), endpoint.disabled_reason
        log.error("webhook_disabled", webhook_id=name, account_id=account, reason=reason)


def disable(endpoint: Endpoint, reason: str, now: datetime) -> None:
    """Operators hear of it by an error in the log, and see it in the admin."""
    endpoint.status, endpoint.disabled_at, endpoint.disabled_reason = Endpoint.Status.DISABLED, now, reason
