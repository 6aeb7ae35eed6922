"""What is due: a claim moves `next_attempt_at` ahead and is committed before anything is sent.

Whoever dies with a claim leaves a delivery that is due again when its lease is over; nobody else sends it meanwhile.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection

from webhooks.messages import event_id_of
from webhooks.models import Delivery, Endpoint
from webhooks.turns import Due

LEASE = timedelta(minutes=2)  # longer than any attempt takes, its name's resolving included

# Every endpoint with something due. Each costs two looks at an index, whatever it has waiting.
DUE = """
    WITH RECURSIVE waiting AS (
        SELECT min(endpoint_id) AS id FROM webhooks_delivery WHERE next_attempt_at IS NOT NULL
        UNION ALL
        SELECT (SELECT min(endpoint_id) FROM webhooks_delivery
                WHERE next_attempt_at IS NOT NULL AND endpoint_id > waiting.id)
        FROM waiting WHERE waiting.id IS NOT NULL
    )
    SELECT endpoint.id, endpoint.account_id, endpoint.slow, endpoint.status
    FROM waiting JOIN webhooks_endpoint endpoint USING (id)
    WHERE EXISTS (SELECT FROM webhooks_delivery WHERE endpoint_id = endpoint.id AND next_attempt_at <= %s)
"""
CLAIM = """
    UPDATE webhooks_delivery SET next_attempt_at = %s
    FROM (
        SELECT due.id FROM unnest(%s::bigint[], %s::int[]) AS wanted (endpoint_id, room), LATERAL (
            SELECT id FROM webhooks_delivery
            WHERE endpoint_id = wanted.endpoint_id AND next_attempt_at <= %s
            ORDER BY next_attempt_at LIMIT wanted.room FOR UPDATE SKIP LOCKED
        ) due
    ) chosen
    WHERE webhooks_delivery.id = chosen.id
    RETURNING webhooks_delivery.id, endpoint_id, event_uid, body, tries
"""


class Parcel(NamedTuple):
    """A claimed delivery, with all that sending it takes. The claim holds while the row says `lease`."""

    due: Due
    id: int
    lease: datetime
    tries: int
    url: str
    message_id: str
    body: bytes
    secrets: list[str]


def find_due(now: datetime) -> list[Due]:
    """The active endpoints with something due; what is due for others is given up."""
    if not Delivery.objects.filter(next_attempt_at__lte=now).exists():
        return []
    with connection.cursor() as cursor:
        cursor.execute(DUE, [now])
        rows = cursor.fetchall()
    silent = [row[0] for row in rows if row[3] != Endpoint.Status.ACTIVE]
    if silent:
        given_up = Delivery.objects.filter(endpoint_id__in=silent, next_attempt_at__lte=now)
        given_up.update(status=Delivery.Status.FAILED, next_attempt_at=None)
    return [Due(*row[:3]) for row in rows if row[3] == Endpoint.Status.ACTIVE]


def claim(granted: Mapping[Due, int], now: datetime) -> list[Parcel]:
    """As many as each was granted, or as there are that nobody else holds."""
    if not granted:
        return []
    dues = {due.endpoint_id: due for due in granted}
    lease = now + LEASE
    with connection.cursor() as cursor:  # one statement, committed with its end
        cursor.execute(CLAIM, [lease, list(dues), list(granted.values()), now])
        rows = cursor.fetchall()
    endpoints = Endpoint.objects.only("url", "secret", "former_secrets").in_bulk({row[1] for row in rows})
    secrets = {pk: endpoint.signing_secrets(now) for pk, endpoint in endpoints.items()}
    return [
        Parcel(
            due=dues[endpoint_id],
            id=delivery_id,
            lease=lease,
            tries=tries,
            url=endpoints[endpoint_id].url,
            message_id=event_id_of(bytes(uid)),
            body=body.encode(),
            secrets=secrets[endpoint_id],
        )
        for delivery_id, endpoint_id, uid, body, tries in rows
        if endpoint_id in endpoints
    ]
