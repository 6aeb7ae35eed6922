"""What each account used, by month (what is billed) and by day (the same, to chart and to recount), in UTC.

Also what it held, day by day, and the warnings it was given. What Stripe was told stands in `stripe_models`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from datetime import date, datetime
from decimal import Decimal
from typing import ClassVar
from uuid import UUID

from django.db import connection, models

from billing.stripe_models import Invoice, MeterReport, StripeEvent, Subscription

__all__ = [
    "Invoice",
    "MeterReport",
    "QuotaWarning",
    "Reached",
    "StorageSample",
    "StripeEvent",
    "Subscription",
    "Usage",
    "UsageDay",
    "UsageRecord",
    "Used",
]


@dataclass(slots=True)
class Used:
    """Units of what is metered; the names are those of the columns."""

    checkpoint_writes: int = 0
    resume_calls: int = 0
    replay_calls: int = 0
    storage_bytes_written: int = 0


COLUMNS = tuple(field.name for field in fields(Used))
ADD = """
    INSERT INTO {table} (account_id, {period}, {columns})
    SELECT * FROM unnest(%s::uuid[], %s::date[], {arrays})
    ON CONFLICT (account_id, {period}) DO UPDATE SET {sums}
    RETURNING account_id, {period}, {columns}
"""
SAMPLE = """
    INSERT INTO billing_storagesample (account_id, day, bytes)
    SELECT account_id, %s, bytes FROM unnest(%s::uuid[], %s::bigint[]) AS held (account_id, bytes)
    ON CONFLICT (account_id, day) DO NOTHING
    RETURNING account_id
"""
WARN = """
    INSERT INTO billing_quotawarning (account_id, month, meter, threshold, used, at)
    SELECT *, %s FROM unnest(%s::uuid[], %s::date[], %s::text[], %s::int[], %s::numeric[])
    ON CONFLICT (account_id, month, meter, threshold) DO NOTHING
    RETURNING account_id, month, meter, threshold, used
"""

type Reached = tuple[UUID, date, str, int, Decimal]
"""account, month, meter, threshold, units used."""


class UsageQuerySet[Row: "Usage"](models.QuerySet[Row]):
    def add(self, used: Mapping[tuple[UUID, date], Used]) -> dict[tuple[UUID, date], Used]:
        """Add to the rows of these accounts and periods; the sums that stand there now.

        Always in one order, so that two who add never deadlock.
        """
        keys = sorted(used)
        accounts, periods = [key[0] for key in keys], [key[1] for key in keys]
        sums = [list(column) for column in zip(*(astuple(used[key]) for key in keys), strict=True)]
        with connection.cursor() as cursor:
            cursor.execute(self.model.add_statement(), [accounts, periods, *sums])
            return {(row[0], row[1]): Used(*row[2:]) for row in cursor.fetchall()}


class Usage(models.Model):
    """Sums of metered events; only the "billing" subscriber adds to them."""

    PERIOD: ClassVar[str]

    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+", db_index=False)
    checkpoint_writes = models.BigIntegerField(default=0)
    resume_calls = models.BigIntegerField(default=0)
    replay_calls = models.BigIntegerField(default=0)
    storage_bytes_written = models.BigIntegerField(default=0)

    objects = UsageQuerySet.as_manager()

    class Meta:
        abstract = True

    @classmethod
    def add_statement(cls) -> str:
        table = cls._meta.db_table
        return ADD.format(
            table=table,
            period=cls.PERIOD,
            columns=", ".join(COLUMNS),
            arrays=", ".join(["%s::bigint[]"] * len(COLUMNS)),
            sums=", ".join(f"{column} = {table}.{column} + excluded.{column}" for column in COLUMNS),
        )


class UsageRecord(Usage):
    """A month, named by its first day."""

    PERIOD = "month"

    month = models.DateField()

    class Meta:
        default_permissions = ("view",)
        verbose_name = "month of usage"
        verbose_name_plural = "usage by month"
        constraints = (models.UniqueConstraint(fields=["account", "month"], name="one_record_a_month"),)
        indexes = (models.Index(fields=["-month", "-id"], name="usage_by_month"),)

    def __str__(self) -> str:
        return f"{self.month:%B %Y}"


class UsageDay(Usage):
    PERIOD = "day"

    day = models.DateField()

    class Meta:
        default_permissions = ("view",)
        verbose_name = "day of usage"
        verbose_name_plural = "usage by day"
        constraints = (models.UniqueConstraint(fields=["account", "day"], name="one_record_a_day"),)
        indexes = (models.Index(fields=["-day", "-id"], name="usage_by_day"),)

    def __str__(self) -> str:
        return f"{self.day:%d %B %Y}"


class StorageSampleQuerySet(models.QuerySet["StorageSample"]):
    def add(self, day: date, held: Mapping[UUID, int]) -> set[UUID]:
        """Samples of accounts that have none of this day yet; whose were taken."""
        accounts = sorted(held)
        with connection.cursor() as cursor:
            cursor.execute(SAMPLE, [day, accounts, [held[account_id] for account_id in accounts]])
            return {row[0] for row in cursor.fetchall()}


class StorageSample(models.Model):
    """What an account held when it was looked at on a day (UTC): the first look of the day stays."""

    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+", db_index=False)
    day = models.DateField()
    bytes = models.BigIntegerField()

    objects = StorageSampleQuerySet.as_manager()

    class Meta:
        default_permissions = ("view",)
        verbose_name_plural = "storage held"
        constraints = (models.UniqueConstraint(fields=["account", "day"], name="one_sample_a_day"),)
        indexes = (models.Index(fields=["-day", "-id"], name="sample_by_day"),)

    def __str__(self) -> str:
        return f"{self.day:%d %B %Y}"


class QuotaWarningQuerySet(models.QuerySet["QuotaWarning"]):
    def add(self, reached: Iterable[Reached], at: datetime) -> list[Reached]:
        """Only those that there were not yet, in any process; always in one order."""
        rows = sorted(reached)
        if not rows:
            return []
        with connection.cursor() as cursor:
            cursor.execute(WARN, [at, *(list(column) for column in zip(*rows, strict=True))])
            return sorted(cursor.fetchall())


class QuotaWarning(models.Model):
    """An account came to a threshold (percent) of a month's free units; told once."""

    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+", db_index=False)
    month = models.DateField()
    meter = models.CharField(max_length=20)
    threshold = models.PositiveSmallIntegerField()
    used = models.DecimalField(max_digits=24, decimal_places=9, help_text="Units used when it was noticed.")
    at = models.DateTimeField()

    objects = QuotaWarningQuerySet.as_manager()

    class Meta:
        default_permissions = ("view",)
        constraints = (
            models.UniqueConstraint(fields=["account", "month", "meter", "threshold"], name="one_warning_a_threshold"),
        )
        indexes = (models.Index(fields=["-at", "-id"], name="warning_newest"),)

    def __str__(self) -> str:
        return f"{self.threshold} % of {self.meter}, {self.month:%B %Y}"
