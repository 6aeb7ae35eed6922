"""What each account used, by month (what is billed) and by day (the same, to chart and to recount), in UTC."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from datetime import date
from typing import ClassVar
from uuid import UUID

from django.db import connection, models


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
"""


class UsageQuerySet[Row: "Usage"](models.QuerySet[Row]):
    def add(self, used: Mapping[tuple[UUID, date], Used]) -> None:
        """Add to the rows of these accounts and periods, always in one order, so that two who add never deadlock."""
        keys = sorted(used)
        accounts, periods = [key[0] for key in keys], [key[1] for key in keys]
        sums = [list(column) for column in zip(*(astuple(used[key]) for key in keys), strict=True)]
        with connection.cursor() as cursor:
            cursor.execute(self.model.add_statement(), [accounts, periods, *sums])


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
