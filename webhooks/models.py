"""Endpoints, and a delivery for each event that one of them is to hear of: the row is the job and its own log."""

import secrets
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import Q

from webhooks.messages import Cut, event_id_of

ROTATION = timedelta(hours=24)
ATTEMPTS_KEPT = 50
KEPT = timedelta(days=30)
SIGNING_AT_MOST = 5
WAITING = Q(next_attempt_at__isnull=False)

RATED = 100
SUCCESS = """
    SELECT endpoint.id, count(*) FILTER (WHERE status = 'delivered'), count(*)
    FROM unnest(%s::bigint[]) AS endpoint (id), LATERAL (
        SELECT status FROM webhooks_delivery WHERE endpoint_id = endpoint.id ORDER BY id DESC LIMIT %s
    ) newest
    WHERE status <> 'pending'
    GROUP BY endpoint.id
"""
SEPARATOR = "\x1f"
"""Never part of JSON text. A column travels as one string, which psycopg sends ten times faster than an array."""
QUEUE = """
    INSERT INTO webhooks_delivery (endpoint_id, event_uid, event_type, digest, generation, body, status, tries,
        attempts, next_attempt_at, created_at)
    SELECT endpoint.id, event.uid, event.type, coalesce(event.digest, ''), event.generation,
        event.before || endpoint.webhook_id || event.after, 'pending', 0, '[]', now(), now()
    FROM unnest(
        string_to_array(%s, E'\\x1f')::bytea[],
        string_to_array(%s, E'\\x1f'),
        string_to_array(%s, E'\\x1f')::uuid[],
        string_to_array(%s, E'\\x1f')::timestamptz[],
        string_to_array(%s, E'\\x1f'),
        string_to_array(%s, E'\\x1f')::int[],
        string_to_array(%s, E'\\x1f'),
        string_to_array(%s, E'\\x1f')
    ) WITH ORDINALITY AS event (uid, type, account_id, at, digest, generation, before, after, place)
    JOIN webhooks_endpoint endpoint ON endpoint.account_id = event.account_id
    WHERE endpoint.status = 'active' AND event.type = ANY (endpoint.events) AND event.at >= endpoint.created_at
    ORDER BY event.place, endpoint.id
    ON CONFLICT (endpoint_id, event_uid) DO NOTHING
"""


def new_webhook_id() -> str:
    return f"wh_{secrets.token_hex(12)}"


class EndpointQuerySet(models.QuerySet["Endpoint"]):
    def of(self, account_id: Any) -> "EndpointQuerySet":
        """Those of an account that still exist, for all that it can tell."""
        return self.filter(account_id=account_id).existing()

    def existing(self) -> "EndpointQuerySet":
        return self.exclude(status=Endpoint.Status.DELETED)

    def accounts_listening(self, account_ids: Collection[UUID]) -> set[UUID]:
        """Which of these accounts have an active endpoint at all."""
        active = self.filter(account_id__in=account_ids, status=Endpoint.Status.ACTIVE)
        return set(active.values_list("account_id", flat=True))

    def success_of(self, ids: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Of each endpoint's newest deliveries that are over: how many were delivered, and how many there are."""
        with connection.cursor() as cursor:
            cursor.execute(SUCCESS, [list(ids), RATED])
            return {endpoint_id: (delivered, total) for endpoint_id, delivered, total in cursor.fetchall()}


class Endpoint(models.Model):
    """A URL that wants to hear of some events. Deleted ones keep nothing but their row until it is swept."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        DISABLED = "disabled"
        DELETED = "deleted"

    webhook_id = models.CharField(max_length=40, unique=True, default=new_webhook_id, editable=False)
    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+")
    url = models.TextField()
    events = ArrayField(models.CharField(max_length=40))
    description = models.TextField(blank=True, default="")
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.ACTIVE)
    secret = models.TextField(editable=False)
    former_secrets = models.JSONField(default=list, editable=False)  # [{"secret", "until"}], the newest first
    slow = models.BooleanField(default=False, help_text="Its last attempt took long: it waits apart from the others.")
    failing_since = models.DateTimeField(null=True, blank=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    disabled_reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(auto_now=True)

    objects = EndpointQuerySet.as_manager()

    class Meta:
        default_permissions = ("view", "change")
        ordering = ("-id",)
        verbose_name = "webhook"

    def __str__(self) -> str:
        return self.webhook_id

    def signing_secrets(self, now: datetime) -> list[str]:
        """The present secret first, then those that still sign for a day after they were replaced."""
        former = [each["secret"] for each in self.former_secrets if datetime.fromisoformat(each["until"]) > now]
        return [self.secret, *former]

    def replace_secret(self, secret: str, now: datetime) -> None:
        still = [each for each in self.former_secrets if datetime.fromisoformat(each["until"]) > now]
        former = [{"secret": self.secret, "until": (now + ROTATION).isoformat()}, *still]
        self.secret, self.former_secrets = secret, former[: SIGNING_AT_MOST - 1]


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def queue(self, cuts: Sequence[Cut]) -> None:
        """A row for each active endpoint that wants to hear, in the order of the events; what is there stays."""
        if not cuts:
            return
        uids, types, accounts, times, digests, generations, before, after = zip(*cuts, strict=True)
        columns = (
            ("\\x" + uid.hex() for uid in uids),
            types,
            (account_id.hex for account_id in accounts),
            (at.isoformat() for at in times),
            digests,
            map(str, generations),
            before,
            after,
        )
        with connection.cursor() as cursor:
            cursor.execute(QUEUE, [SEPARATOR.join(column) for column in columns])

    def drop(self, account_id: UUID, digest: str, generation: int) -> None:
        """What is held of a workflow below this generation, whatever became of it. Locked by id, as everywhere."""
        held = self.filter(digest=digest, generation__lt=generation, endpoint__account_id=account_id)
        ids = list(held.select_for_update(of=("self",)).order_by("id").values_list("id", flat=True))
        self.filter(id__in=ids).delete()


class Delivery(models.Model):
    """One event for one endpoint, for ever the same bytes. `next_attempt_at` is its place in the queue."""

    class Status(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event_uid = models.BinaryField(max_length=16)
    event_type = models.CharField(max_length=40)
    digest = models.TextField(blank=True, default="", help_text="Of the workflow; empty where there is none.")
    generation = models.IntegerField(default=0)
    body = models.TextField()
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.PENDING)
    tries = models.PositiveSmallIntegerField(default=0, help_text="Attempts since it was queued, or sent again.")
    attempts = models.JSONField(default=list)  # [{"at", "status_code", "duration_ms", "error", "response"}]
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        default_permissions = ("view",)
        permissions = [("resend_delivery", "Can send a delivery again")]
        ordering = ("-id",)
        verbose_name_plural = "deliveries"
        constraints = [models.UniqueConstraint(fields=["endpoint", "event_uid"], name="one_delivery_per_event")]
        indexes = [
            models.Index(fields=["endpoint", "next_attempt_at"], condition=WAITING, name="deliveries_due"),
            models.Index(fields=["next_attempt_at"], condition=WAITING, name="deliveries_next"),
            models.Index(fields=["endpoint", "-id"], name="deliveries_newest"),
            models.Index(fields=["digest"], condition=~Q(digest=""), name="deliveries_of_workflow"),
        ]

    def __str__(self) -> str:
        return self.delivery_id

    @property
    def event_id(self) -> str:
        return event_id_of(bytes(self.event_uid))

    @property
    def delivery_id(self) -> str:
        """An endpoint hears of an event once: the event names the delivery within its endpoint."""
        return f"dlv_{bytes(self.event_uid).hex()}"
