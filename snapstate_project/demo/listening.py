"""Who hears of the demo's events: subscribers pass them over, endpoints have had them delivered, some in vain."""

import random
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from snapstate_project.demo.population import Person, Wanted
from snapstate_project.events.models import EVENT_LOCK, Event
from snapstate_project.events.relay import subscribers
from webhooks.messages import EVENTS
from webhooks.models import Delivery, Endpoint
from webhooks.signing import new_secret
from webhooks.subscribers import message_of

DELIVERED_OF = 20_000
"""The newest events, of which deliveries are made."""
OUTCOMES = """
    UPDATE webhooks_delivery d SET next_attempt_at = NULL, created_at = f.at, tries = f.tries,
        status = CASE WHEN f.failed THEN 'failed' ELSE 'delivered' END,
        attempts = (
            SELECT jsonb_agg(jsonb_build_object(
                'at', to_char(f.at + n * interval '5 min', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                'status_code', CASE WHEN f.failed OR n < f.tries THEN 500 + 3 * (d.id %% 2) ELSE 200 END,
                'duration_ms', 40 + (d.id * 37 + n * 11) %% 900, 'error', NULL,
                'response', CASE WHEN f.failed OR n < f.tries THEN '{"error": "try later"}' ELSE 'ok' END
            ) ORDER BY n) FROM generate_series(1, f.tries) AS n
        )
    FROM (
        SELECT d.id, e.at, d.id %% 23 = 0 AS failed,
            CASE WHEN d.id %% 23 = 0 THEN 10 WHEN d.id %% 11 = 0 THEN 2 ELSE 1 END AS tries
        FROM webhooks_delivery d JOIN webhooks_endpoint w ON w.id = d.endpoint_id
            JOIN events_event e ON e.uid = d.event_uid
        WHERE w.account_id = ANY (%s)
    ) AS f WHERE d.id = f.id
"""


def make_endpoints(owners: Sequence[Person], wanted: Wanted) -> None:
    """Of a third of the accounts; their hosts are of a kind that never exists."""
    chance = random.Random(f"endpoints {wanted.seed}")  # noqa: S311 (made-up data, the same by seed)
    rows = [_endpoint(owner, number, chance) for number, owner in enumerate(owners[::3])]
    for row, owner in zip(rows, owners[::3], strict=True):
        row.created_at = owner.created_at
        if row.status == Endpoint.Status.DISABLED:
            row.disabled_at, row.disabled_reason = wanted.now, "it has failed for five days"
    Endpoint.objects.bulk_create(rows)


def _endpoint(owner: Person, number: int, chance: random.Random) -> Endpoint:
    events = list(EVENTS) if number % 3 == 0 else ["workflow.completed", "workflow.failed", "quota.exceeded"]
    return Endpoint(
        webhook_id=f"wh_{chance.getrandbits(96):024x}",
        account_id=owner.id,
        url=f"https://hooks.{owner.email.partition('@')[2]}/snapstate",
        events=events,
        description="Tells the team's channel." if number % 2 else "",
        status=Endpoint.Status.DISABLED if number % 17 == 5 else Endpoint.Status.ACTIVE,
        secret=new_secret(),
    )


def all_caught_up(cursor: Any) -> bool:
    """Holds every cursor, then the events; whether nobody has any of them still to come."""
    cursor.execute("SELECT name, position FROM events_subscribercursor WHERE name = ANY (%s) ORDER BY name FOR UPDATE",
                   [sorted(subscribers)])  # fmt: skip
    positions = dict(cursor.fetchall())
    cursor.execute("SELECT pg_advisory_xact_lock(%s)", [EVENT_LOCK])
    newest = Event.objects.order_by("-id").values_list("id", flat=True).first() or 0
    return all(positions.get(name, 0) >= newest for name in subscribers)


def pass_over(cursor: Any) -> None:
    """What the subscribers would make of these events is there already."""
    cursor.execute(
        "INSERT INTO events_subscribercursor (name, position, failing_error, failures, updated_at)"
        " SELECT name, (SELECT coalesce(max(id), 0) FROM events_event), '', 0, now() FROM unnest(%s::text[]) AS name"
        " ON CONFLICT (name) DO UPDATE SET position = excluded.position, updated_at = now()",
        [sorted(subscribers)],
    )


def make_deliveries(accounts: list[UUID]) -> None:
    """In one transaction with their outcomes: nothing of it is ever sent."""
    heard = Event.objects.filter(type__in=EVENTS).order_by("-id")[:DELIVERED_OF]
    mine = set(accounts)
    listening = Endpoint.objects.accounts_listening(accounts)
    cuts = [
        message_of(event, event.body)
        for event in reversed(heard)
        if event.account_id in mine and event.account_id in listening
    ]
    Delivery.objects.queue(cuts)
    with connection.cursor() as cursor:
        cursor.execute(OUTCOMES, [accounts])
