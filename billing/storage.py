"""Storage held: looked at once a day for each account; a month's figure is the mean of the samples there are.

A day that nobody looked at has no sample, for nobody can know it any more.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import batched
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Sum
from django.db.models.functions import TruncMonth
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.models import Account
from billing import plans, quotas
from billing.locks import alone
from billing.models import StorageSample, UsageRecord
from billing.periods import day_of, days_in, month_after

BATCH = 200  # the event lock is held while the warnings of a batch are written


@dataclass(frozen=True, slots=True)
class Sampled:
    """The samples of a month, in bytes."""

    total: int
    count: int

    @property
    def mean_gb(self) -> Decimal:
        """The month's figure."""
        return Decimal(self.total) / self.count / plans.GB

    def certain_gb(self, month: date) -> Decimal:
        """What the figure of a month that still runs cannot fall below, as long as every day is looked at."""
        return Decimal(self.total) / days_in(month) / plans.GB


def sample_storage(*, now: datetime | None = None) -> int:
    """Looks at each account that has no sample of today yet; how many it took. Repeating it changes nothing."""
    now = now or timezone.now()
    with alone("billing.sample_storage") as ours:
        if not ours:
            return 0
        taken = StorageSample.objects.filter(account=OuterRef("pk"), day=day_of(now))
        missing = list(Account.objects.filter(~Exists(taken)).order_by("pk").values_list("pk", flat=True))
        held = held_by_account() if missing else {}
        return sum(_sample(ids, held, now) for ids in batched(missing, BATCH))


@transaction.atomic
def _sample(ids: Iterable[UUID], held: Mapping[UUID, int], now: datetime) -> int:
    """The warnings of the samples come with them, and last: they write events."""
    day = day_of(now)
    sampled = StorageSample.objects.add(day, {id_: held.get(id_, 0) for id_ in ids})
    month = day.replace(day=1)
    # Who only holds something has a month of usage all the same.
    records = [UsageRecord(account_id=id_, month=month) for id_ in sorted(sampled) if held.get(id_)]
    UsageRecord.objects.bulk_create(records, ignore_conflicts=True)
    figures = samples_of(sampled, month, month)
    quotas.warn({key: {"storage_gb": figures[key].mean_gb} for key in figures}, at=now)
    return len(sampled)


def samples_of(account_ids: Iterable[UUID], first: date, last: date) -> dict[tuple[UUID, date], Sampled]:
    """By account and month, for the months from `first` to `last`; in one query."""
    days = StorageSample.objects.filter(account_id__in=list(account_ids), day__gte=first, day__lt=month_after(last))
    return dict(_by_month(days))


def _by_month(samples: Any) -> Iterator[tuple[tuple[UUID, date], Sampled]]:
    months = samples.annotate(month=TruncMonth("day")).values_list("account_id", "month").order_by()
    for account_id, month, total, count in months.annotate(total=Sum("bytes"), count=Count("pk")):
        yield (account_id, month), Sampled(int(total), count)


def held_bytes(account_id: UUID) -> int:
    """Now. Asked of the room that settings.STORAGE_HELD names: rooms do not import one another."""
    held: Callable[[UUID], int] = import_string(settings.STORAGE_HELD)
    return held(account_id)


def held_by_account() -> dict[UUID, int]:
    """Now, of all that hold anything, in one query of the room that settings.STORAGE_HELD_BY_ACCOUNT names."""
    held: Callable[[], dict[UUID, int]] = import_string(settings.STORAGE_HELD_BY_ACCOUNT)
    return held()
