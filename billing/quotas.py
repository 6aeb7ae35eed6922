"""An account is warned once for each month, meter and threshold of its free units; the warning is an event too."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from billing import plans
from billing.models import QuotaWarning
from snapstate_project.events.catalogue import QuotaExceeded
from snapstate_project.events.recording import record_event


def warn(used: Mapping[tuple[UUID, date], Mapping[str, Decimal]], *, at: datetime | None = None) -> int:
    """Units used by account, month and meter: how many new warnings they led to.

    Within the transaction that wrote what they rest on, as its last statement: it takes the event lock.
    """
    at = at or timezone.now()
    reached = [
        (account_id, month, meter, threshold, units)
        for (account_id, month), meters in used.items()
        for meter, units in meters.items()
        for threshold in plans.METRICS[meter].reached(units)
    ]
    new = QuotaWarning.objects.add(reached, at)
    for account_id, month, meter, threshold, units in new:
        free = plans.METRICS[meter].free
        told = QuotaExceeded(
            meter=meter, threshold=threshold, month=f"{month:%Y-%m}", used=number(units), free=number(free)
        )
        record_event("quota.exceeded", account_id, told, at)
    return len(new)


def number(exact: Decimal) -> int | float:
    return int(exact) if exact == exact.to_integral_value() else float(exact)
