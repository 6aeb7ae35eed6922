"""What Postgres keeps of a workflow: its row, its history as deltas, and the erasures still to finish."""

from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from checkpoints.content import etag
from checkpoints.ids import checkpoint_id
from snapstate_project.common.exact_text import ExactTextField


class WorkflowStatus(models.TextChoices):
    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"


class Workflow(models.Model):
    """The projection of a workflow: its head, totals and expiry. The row outlives archiving and erasing,
    because `generation` and `last_sequence` must never start again."""

    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+")
    digest = models.BinaryField(max_length=16, help_text="Hash of account and workflow id; names the Redis keys.")
    workflow_id = models.TextField(db_collation="C", blank=True)
    generation = models.PositiveIntegerField(default=1)
    last_sequence = models.BigIntegerField(default=0, help_text="Every save up to it has been taken.")

    version = models.BigIntegerField(
        default=0, help_text="Moves with every change of the row's history or whereabouts."
    )
    saved_sequence = models.BigIntegerField(default=0, help_text="Of the last save; a PATCH takes a sequence too.")
    archived_sequence = models.BigIntegerField(default=0, help_text="Every row up to it is in a segment.")
    dropped_sequence = models.BigIntegerField(default=0, help_text="Rows up to it are in segments only.")

    head_step = models.BigIntegerField(null=True)
    head_sequence = models.BigIntegerField(null=True)
    head_digest = models.BinaryField(null=True)
    head_guard = models.TextField(blank=True)
    label = ExactTextField(null=True)
    agent_id = models.TextField(null=True)  # noqa: DJ001 (null is no agent)
    status = models.CharField(max_length=9, choices=WorkflowStatus.choices, default=WorkflowStatus.ACTIVE)
    metadata = models.BinaryField(null=True, help_text="The head's metadata, as sent.")
    metadata_terms = ArrayField(models.BigIntegerField(), default=list, help_text="Hashes of its searchable pairs.")

    total_checkpoints = models.BigIntegerField(default=0)
    size_bytes = models.BigIntegerField(default=0, help_text="Bytes of state as sent, newest revision of each step.")
    stored_bytes = models.BigIntegerField(default=0, help_text="Bytes of its history as kept, compressed.")
    ttl_seconds = models.PositiveIntegerField(null=True, help_text="The TTL last asked for.")
    pinned = models.BooleanField(default=False)
    keep_last = models.PositiveIntegerField(null=True)
    started_at = models.DateTimeField(null=True)
    last_activity_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    archive_at = models.DateTimeField(null=True, help_text="When it is due for the archive; null while pinned.")
    evict_at = models.DateTimeField(null=True, help_text="When, archived, it leaves Redis and its rows go.")
    evicted_at = models.DateTimeField(null=True, help_text="When it left, until the next save.")
    erased_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "digest"], name="workflow_identity")]
        indexes = [
            models.Index(fields=["account", "-last_activity_at", "-id"], name="workflow_activity"),
            models.Index(fields=["account", "status", "-last_activity_at"], name="workflow_status"),
            models.Index(fields=["account", "agent_id", "-last_activity_at"], name="workflow_agent"),
            models.Index(fields=["account", "workflow_id"], name="workflow_prefix"),
            models.Index(fields=["archive_at"], name="workflow_due", condition=models.Q(archive_at__isnull=False)),
            models.Index(fields=["evict_at"], name="workflow_leaving", condition=models.Q(evict_at__isnull=False)),
            GinIndex(fields=["metadata_terms"], name="workflow_metadata"),
            models.Index(
                fields=["-last_activity_at", "-id"], name="workflow_newest", condition=models.Q(head_step__isnull=False)
            ),
        ]
        permissions = [("view_state", "Can see the states that agents saved")]

    def __str__(self) -> str:
        return self.workflow_id or f"erased workflow {self.pk}"

    @property
    def is_cold(self) -> bool:
        """Whether it is in the archive only: not in Redis, and no row of its history left."""
        return self.evicted_at is not None and self.evict_at is None

    @property
    def leaves_at(self) -> datetime | None:
        """When it goes to the archive; None while it is there or pinned."""
        return None if self.pinned or self.is_cold else self.evict_at or self.expires_at

    @property
    def named(self) -> dict[str, object]:
        """What an event of the whole workflow says of it and of its head."""
        step, digest = self.head_step or 0, bytes(self.head_digest or b"").hex()
        return {
            "digest": bytes(self.digest).hex(),
            "generation": self.generation,
            "workflow_id": self.workflow_id,
            "checkpoint_id": checkpoint_id(self.workflow_id, step),
            "step": step,
            "etag": f'"{etag(self.generation, self.head_sequence or 0, digest)}"',
            "sequence": self.saved_sequence,
        }


class Checkpoint(models.Model):
    """The newest revision of one step. `body` is a zstd frame, full or a delta against the row `base`."""

    pk = models.CompositePrimaryKey("workflow_id", "sequence")
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="checkpoints", db_index=False)
    sequence = models.BigIntegerField()
    step = models.BigIntegerField()
    anchor = models.BigIntegerField(help_text="Sequence of the full row that this chain of deltas starts from.")
    base = models.BigIntegerField(null=True, help_text="Sequence of the row this delta stands on; null when full.")
    created_at = models.DateTimeField()
    generation = models.PositiveIntegerField()
    size_bytes = models.PositiveIntegerField(help_text="Bytes of state as sent.")
    digest = models.BinaryField(help_text="SHA-256 of the content.")
    status = models.CharField(max_length=9, choices=WorkflowStatus.choices)
    guard = models.TextField(blank=True, help_text="The guard this revision was written under.")
    agent_id = models.TextField(null=True)  # noqa: DJ001 (null is no agent)
    label = ExactTextField(null=True)
    body = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workflow", "generation", "step"], name="one_row_a_step")]

    def __str__(self) -> str:
        return f"step {self.step}"


class ArchiveIntent(models.Model):
    """An object that may be under way: written before the upload, gone when its segment is, or its object."""

    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="+")
    generation = models.PositiveIntegerField()
    key = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    def __str__(self) -> str:
        return self.key


class ArchiveSegment(models.Model):
    """One object of the archive, verified. `steps` is its index: what is in it, without the states."""

    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, related_name="segments")
    generation = models.PositiveIntegerField()
    key = models.TextField(unique=True)
    first_sequence = models.BigIntegerField()
    last_sequence = models.BigIntegerField()
    first_step = models.BigIntegerField()
    last_step = models.BigIntegerField()
    count = models.PositiveIntegerField()
    raw_bytes = models.BigIntegerField(help_text="Bytes of state in it, as sent.")
    stored_bytes = models.BigIntegerField(help_text="Bytes of the object.")
    sha256 = models.BinaryField()
    steps = models.BinaryField()
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "archive"
        indexes = [models.Index(fields=["workflow", "generation", "first_step"], name="segment_steps")]

    def __str__(self) -> str:
        return self.key


class ArchiveProblem(models.Model):
    """A workflow whose archiving failed and was set aside; retried later, or by an operator at once."""

    workflow = models.OneToOneField(Workflow, on_delete=models.CASCADE, related_name="archive_problem")
    reason = models.TextField()
    attempts = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField(auto_now_add=True)
    last_at = models.DateTimeField(auto_now=True)

    class Meta:
        default_permissions = ("view",)
        permissions = [("retry_archiving", "Can have archiving tried again at once")]

    def __str__(self) -> str:
        return self.reason


class Erasure(models.Model):
    """An erase that has been promised: done when Redis, rows and archive hold nothing below `generation`."""

    account_id = models.UUIDField()
    digest = models.BinaryField(max_length=16)
    generation = models.PositiveIntegerField(help_text="The first generation that may live.")
    created_at = models.DateTimeField(auto_now_add=True)
    hot_erased_at = models.DateTimeField(null=True)
    rows_erased_at = models.DateTimeField(null=True)
    objects_erased_at = models.DateTimeField(null=True)
    swept_at = models.DateTimeField(null=True, help_text="When the last look, an hour later, was done.")

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="erasure_open", condition=models.Q(swept_at__isnull=True))]

    def __str__(self) -> str:
        return f"erasure {self.pk}"
