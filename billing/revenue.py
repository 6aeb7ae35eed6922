"""What all accounts together would be charged for a month: the sums of `usage`, made where the rows are."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Avg, DecimalField, F, Sum, Value
from django.db.models.functions import Greatest

from billing import plans
from billing.models import StorageSample, UsageRecord
from billing.periods import month_of

EXACT: Any = DecimalField(max_digits=40, decimal_places=9)


def estimated_revenue(*, now: datetime) -> Decimal:
    """Exact dollars of the month that `now` falls in, so far, in two queries. Of storage: the means of its samples."""
    first, end = (moment.date() for moment in month_of(now))
    used = UsageRecord.objects.filter(month=first).aggregate(**{name: billable(name) for name in plans.COUNTED})
    counted = sum((Decimal(used[name] or 0) * plans.METRICS[name].price for name in plans.COUNTED), Decimal(0))
    storage = plans.METRICS["storage_gb"]
    free = Value(storage.free * plans.GB, output_field=EXACT)
    samples = StorageSample.objects.filter(day__gte=first, day__lt=end).order_by().values("account")
    means = samples.annotate(held=Avg("bytes", output_field=EXACT))
    beyond = means.annotate(beyond=Greatest(F("held") - free, Value(Decimal(0), output_field=EXACT)))
    return counted + Decimal(beyond.aggregate(sum=Sum("beyond"))["sum"] or 0) / plans.GB * storage.price


def billable(column: str) -> Any:
    return Sum(Greatest(F(column) - Value(int(plans.METRICS[column].free)), Value(0)))
