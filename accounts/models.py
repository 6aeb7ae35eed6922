"""Accounts and their keys. Rows are never deleted, and what admission relies on changes through `services` only."""

import uuid
from datetime import datetime, timedelta
from typing import Any, NoReturn

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Lower

from accounts.keys import SCOPES

LAST_USED_PRECISION = timedelta(minutes=1)
MOST_KEPT, MOST_DAYS = 1_000_000_000, 36_500
PLAN_SHAPE = r"\A[a-z0-9][a-z0-9_-]*\Z"
PLAN_TOLD = "must be lower-case letters, digits, - and _, like free or pro"


class KeptQuerySet[M: models.Model](models.QuerySet[M]):
    """A row that is gone from Postgres would live on in Redis: nothing here is deleted."""

    def delete(self) -> NoReturn:
        raise models.ProtectedError(f"{self.model._meta.verbose_name_plural} are never deleted", set())


class Kept(models.Model):
    class Meta:
        abstract = True

    def delete(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise models.ProtectedError(f"{self._meta.verbose_name_plural} are never deleted", {self})


class Account(Kept):
    class Status(models.TextChoices):
        ACTIVE = "active"
        SUSPENDED = "suspended"
        CLOSED = "closed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    email = models.EmailField(max_length=254)  # in lower case
    name = models.CharField(max_length=200, blank=True, default="")
    plan = models.CharField(max_length=40, default="free")
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.ACTIVE)
    rate_limit_max = models.PositiveIntegerField(
        "rate limit",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Calls per key and window; empty: the standard limit.",
    )
    keep_last = models.PositiveIntegerField(
        "checkpoints kept",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Newest checkpoints kept of each workflow that says nothing itself; empty: all.",
    )
    archive_days = models.PositiveIntegerField(
        "days in the archive",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="How long archived checkpoints are kept; empty: for ever.",
    )
    stripe_customer_id = models.CharField(max_length=255, null=True, blank=True, unique=True)
    held_for_payment = models.BooleanField(
        default=False, db_default=False, help_text="Suspended by Stripe's word, not by an operator's."
    )
    status_reason = models.CharField(
        max_length=300, blank=True, default="", db_default="", help_text="Why an operator has set the status."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    usage_this_month: dict[str, int]  # only where services.note_usage has set it

    objects = KeptQuerySet["Account"].as_manager()

    class Meta:
        default_permissions = ("add", "change", "view")
        permissions = [
            ("view_revenue", "Can see what is charged and earned"),
            ("close_account", "Can schedule an account's deletion, and undo that"),
            ("limit_history", "Can set how much of an account's history is kept"),
            ("suspend_account", "Can suspend and reactivate an account"),
        ]
        ordering = ("-created_at", "-id")
        constraints = [models.UniqueConstraint(Lower("email"), name="one_account_per_email")]
        indexes = [models.Index(fields=["-created_at", "-id"], name="account_newest")]

    def __str__(self) -> str:
        return self.email

    @property
    def rate_limit(self) -> int:
        """Calls per key and window."""
        return self.rate_limit_max or settings.RATE_LIMIT_MAX


class ApiKeyQuerySet(KeptQuerySet["ApiKey"]):
    def in_use(self, now: datetime) -> "ApiKeyQuerySet":
        """Neither revoked nor expired."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now), revoked_at=None)

    def note_last_used(self, ids: set[uuid.UUID], now: datetime) -> None:
        """At most once a minute per key; a row that somebody holds is left for the next time."""
        due = self.filter(Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_PRECISION), id__in=ids)
        with transaction.atomic():
            free = due.select_for_update(skip_locked=True).values_list("id", flat=True)
            self.filter(id__in=list(free)).update(last_used_at=now)


class ApiKey(Kept):
    """Only the digest of the secret is kept."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="keys")
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, editable=False)
    label = models.CharField(max_length=100, blank=True, default="")
    scopes = ArrayField(models.CharField(max_length=40, choices=[(scope, scope) for scope in SCOPES]), default=list)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        default_permissions = ("add", "change", "view")
        ordering = ("-created_at", "-id")
        verbose_name = "API key"
        verbose_name_plural = "API keys"
        constraints = [models.UniqueConstraint(fields=["digest"], name="one_key_per_digest")]
        indexes = [models.Index(fields=["-created_at", "-id"], name="key_newest")]

    def __str__(self) -> str:
        return f"{self.prefix}…"

    def is_in_use(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


class DeletionQuerySet(models.QuerySet["Deletion"]):
    def open(self) -> "DeletionQuerySet":
        """Neither undone nor done."""
        return self.filter(finished_at=None, undone_at=None)


class Deletion(models.Model):
    """An operator's word that an account is to go. Until it begins, at `due_at`, it can be undone; then it is finished.

    The account's row stays, closed: invoices and sums point to it. What its customer kept with us goes.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="deletions")
    due_at = models.DateTimeField()
    reason = models.CharField(max_length=300)
    status_before = models.CharField(max_length=9, choices=Account.Status.choices)
    reason_before = models.CharField(max_length=300, default="", db_default="")
    asked_at = models.DateTimeField(auto_now_add=True)
    began_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    undone_at = models.DateTimeField(null=True)

    objects = DeletionQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["account"], condition=Q(finished_at=None, undone_at=None), name="one_open_deletion"
            )
        ]
        indexes = [models.Index(fields=["due_at"], condition=Q(finished_at=None, undone_at=None), name="deletions_due")]

    def __str__(self) -> str:
        return f"deletion of {self.account}"
