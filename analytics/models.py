"""What was done, as facts with their time (steps, errors, resumes), and the sums that reports read.

Only `record` writes here, under the cursor of the subscriber "analytics"; every sum can be made again from the facts.
"""

from datetime import datetime, timedelta
from typing import Self
from uuid import UUID

from django.conf import settings
from django.db import models

from snapstate_project.common.exact_text import ExactTextField


class OfAccounts[Row: models.Model](models.QuerySet[Row]):
    def of(self, account_id: UUID | None) -> Self:
        """One account's rows; None: everybody's."""
        return self.all() if account_id is None else self.filter(account_id=account_id)


class WorkflowStats(models.Model):
    """A workflow: its newest revisions counted, and its head's status."""

    class Status(models.TextChoices):
        ACTIVE = "active"
        COMPLETED = "completed"
        FAILED = "failed"

    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+", db_index=False)
    digest = models.BinaryField(max_length=16, help_text="Hash of account and workflow id, as events name it.")
    generation = models.PositiveIntegerField()
    workflow_id = models.TextField(db_collation="C")
    status = models.CharField(max_length=9, choices=Status.choices)
    total_steps = models.BigIntegerField()
    total_size_bytes = models.BigIntegerField(help_text="Bytes of state as sent.")
    first_checkpoint_at = models.DateTimeField()
    last_checkpoint_at = models.DateTimeField()

    objects = OfAccounts["WorkflowStats"].as_manager()

    class Meta:
        default_permissions = ("view",)
        verbose_name = "workflow's statistics"
        verbose_name_plural = "statistics"
        constraints = (models.UniqueConstraint(fields=["account", "digest"], name="stats_identity"),)
        indexes = (models.Index(fields=["account", "last_checkpoint_at"], name="stats_by_activity"),)

    def __str__(self) -> str:
        return self.workflow_id

    @property
    def duration(self) -> timedelta:
        return self.last_checkpoint_at - self.first_checkpoint_at

    def status_at(self, now: datetime) -> str:
        """`stalled` is computed: active, and nothing saved for STALLED_AFTER_SECONDS."""
        is_stalled = self.status == self.Status.ACTIVE and self.last_checkpoint_at < stalled_before(now)
        return "stalled" if is_stalled else self.status


def stalled_before(now: datetime) -> datetime:
    return now - timedelta(seconds=settings.STALLED_AFTER_SECONDS)


class OfWorkflow(models.Model):
    """Rows by the thousand: checking each foreign key would cost more than the row, and one writer keeps them right."""

    stats = models.ForeignKey(
        WorkflowStats, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )

    class Meta:
        abstract = True


class WorkflowStep(OfWorkflow):
    """The newest revision of one step."""

    pk = models.CompositePrimaryKey("stats_id", "step")
    step = models.BigIntegerField()
    created_at = models.DateTimeField()
    size_bytes = models.IntegerField()
    agent_id = models.TextField(null=True)  # noqa: DJ001 (null is no agent)
    label = ExactTextField(null=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"step {self.step}"


class WorkflowError(OfWorkflow):
    """One save that told of an error, or failed its workflow."""

    account = models.ForeignKey(
        "accounts.Account", on_delete=models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    step = models.BigIntegerField()
    agent_id = models.TextField(null=True)  # noqa: DJ001 (null is no agent)
    error_type = ExactTextField(null=True)
    error_message = ExactTextField(null=True)
    created_at = models.DateTimeField()

    objects = OfAccounts["WorkflowError"].as_manager()

    class Meta:
        default_permissions = ("view",)
        verbose_name = "error"
        indexes = (
            models.Index(fields=["account", "created_at"], name="errors_by_account"),
            models.Index(fields=["created_at"], name="errors_by_time"),
            models.Index(fields=["stats"], name="errors_by_workflow"),
        )

    def __str__(self) -> str:
        return f"error at step {self.step}"


class WorkflowResumes(OfWorkflow):
    """How often a workflow was resumed on one day."""

    pk = models.CompositePrimaryKey("stats_id", "day")
    day = models.DateField()
    count = models.BigIntegerField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"resumes on {self.day}"


class WorkflowAgent(OfWorkflow):
    """An agent's part in a workflow: its steps there, and the times of the first and last thing it did."""

    pk = models.CompositePrimaryKey("stats_id", "agent_id")
    account = models.ForeignKey(
        "accounts.Account", on_delete=models.PROTECT, db_constraint=False, related_name="+", db_index=False
    )
    agent_id = models.TextField()
    steps = models.BigIntegerField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    objects = OfAccounts["WorkflowAgent"].as_manager()

    class Meta:
        default_permissions = ()
        indexes = (models.Index(fields=["account", "last_at"], name="parts_by_activity"),)

    def __str__(self) -> str:
        return self.agent_id


class DailyActivity(models.Model):
    """What an account did on one day (UTC). `checkpoints` are writes, `steps` the newest revisions written that day.

    Erasing a workflow takes its steps out; what happened has happened.
    """

    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+", db_index=False)
    day = models.DateField()
    checkpoints = models.BigIntegerField()
    steps = models.BigIntegerField()
    resumes = models.BigIntegerField()
    failures = models.BigIntegerField()

    objects = OfAccounts["DailyActivity"].as_manager()

    class Meta:
        default_permissions = ()
        constraints = (models.UniqueConstraint(fields=["account", "day"], name="one_activity_a_day"),)
        indexes = (models.Index(fields=["day"], name="activity_by_day"),)

    def __str__(self) -> str:
        return f"{self.day:%d %B %Y}"


class AgentDay(models.Model):
    """The newest revisions that an agent wrote on one day (UTC), where there are any."""

    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+", db_index=False)
    day = models.DateField()
    agent_id = models.TextField()
    steps = models.BigIntegerField()

    objects = OfAccounts["AgentDay"].as_manager()

    class Meta:
        default_permissions = ()
        constraints = (models.UniqueConstraint(fields=["account", "day", "agent_id"], name="one_agent_a_day"),)

    def __str__(self) -> str:
        return f"{self.agent_id}, {self.day:%d %B %Y}"
