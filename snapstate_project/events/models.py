"""What happened (Event), and how far each subscriber has come (SubscriberCursor); only the relay moves a cursor."""

from typing import Any

import msgspec
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import F, Func, Value

from snapstate_project.events import catalogue

EVENT_LOCK = 0x534E4150_45564E54
"""The global advisory lock held from an event's insert to its commit, so that event ids become visible in order."""

DIGEST = Func(F("data"), Value('"'), Value(4), function="split_part", output_field=models.TextField())
"""The digest at the start of `data`: {"digest":"…", as the catalogue writes it."""


class EventQuerySet(models.QuerySet["Event"]):
    def of_workflow(self, digest: str) -> "EventQuerySet":
        """Events of the workflows (of any account) with this digest; indexed."""
        return self.alias(digest=DIGEST).filter(digest=digest)


class Event(models.Model):
    """One thing that happened to an account's workflow; `data` is JSON text, never jsonb (which refuses NUL)."""

    id = models.BigAutoField(primary_key=True)
    uid = models.BinaryField(unique=True, max_length=16)
    type = models.TextField()
    account_id = models.UUIDField()
    at = models.DateTimeField()
    erased = models.BooleanField(default=False)
    data = models.TextField()

    objects = EventQuerySet.as_manager()

    class Meta:
        default_permissions = ("view",)
        # BRIN costs an insert next to nothing; its twin on the digest within `data` stands in the first migration.
        indexes = [
            BrinIndex(
                fields=["account_id"],
                opclasses=["uuid_bloom_ops"],
                pages_per_range=32,
                autosummarize=True,
                name="events_account",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} #{self.pk}"

    @property
    def fields(self) -> dict[str, Any]:
        """Those of `data` as they stand there, whatever release wrote them."""
        fields: dict[str, Any] = msgspec.json.decode(self.data)
        return fields

    @property
    def workflow(self) -> str:
        """What the customer calls it; empty where the event is of no workflow, or of its erasure."""
        if "digest" not in self.fields or self.type == "workflow.erased":
            return ""
        return self.fields.get("workflow_id") or "erased since"

    @property
    def body(self) -> catalogue.Body:
        """The fields of `data`, as the Struct that the catalogue lists for this type."""
        return catalogue.decode(self.type, self.data)


class SubscriberCursor(models.Model):
    """The last event a subscriber has dealt with, and the one it fails at while it fails."""

    name = models.TextField(primary_key=True)
    position = models.BigIntegerField(default=0)
    failing_event_id = models.BigIntegerField(null=True, blank=True)
    failing_error = models.TextField(blank=True, default="")
    failing_since = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        default_permissions = ("view",)
        permissions = [("skip_event", "Can skip the event a subscriber fails at")]
        verbose_name = "subscriber"

    def __str__(self) -> str:
        return self.name
