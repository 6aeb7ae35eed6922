"""What the tests of webhooks do again and again."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from snapstate_project.events import recording
from snapstate_project.events.catalogue import CheckpointSaved, encode
from tests.events.steps import drain
from webhooks import delivering
from webhooks.models import Delivery, Endpoint


def saved(workflow_id: str = "w", step: int = 1, *, digest: str = "d" * 32, generation: int = 1) -> CheckpointSaved:
    return CheckpointSaved(
        digest=digest,
        generation=generation,
        sequence=step,
        step=step,
        size_bytes=10,
        workflow_id=workflow_id,
        checkpoint_id=f"cp_{workflow_id}_{step:03d}",
        etag=f'"1-{step}-x"',
    )


def happened(account: Any, *bodies: Any, event_type: str = "checkpoint.saved", erased: bool = False) -> None:
    """Events of an account, as intake writes them."""
    at = timezone.now()
    rows = [(uuid.uuid4().bytes, event_type, account.id, at, erased, encode(body)) for body in bodies]
    with transaction.atomic(), connection.cursor() as cursor:
        recording.insert_events(cursor, rows)


def queue() -> None:
    drain("webhooks", limit=1_000)


def deliver(later: timedelta = timedelta()) -> int:
    """Everything that is due by then, until nothing is."""
    return delivering.deliver_due(now=timezone.now() + later)


def deliveries(hook: dict[str, Any]) -> list[Delivery]:
    return list(Delivery.objects.filter(endpoint__webhook_id=hook["webhook_id"]).order_by("id"))


def delivery(hook: dict[str, Any]) -> Delivery:
    (only,) = deliveries(hook)
    return only


def endpoint(hook: dict[str, Any]) -> Endpoint:
    return Endpoint.objects.get(webhook_id=hook["webhook_id"])


def seconds_from_now(moment: datetime | None) -> float:
    assert moment is not None
    return (moment - timezone.now()).total_seconds()
