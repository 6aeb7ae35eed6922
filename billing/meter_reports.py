"""The ledger: each billable unit goes into one row, each row to Stripe under one identifier, and is counted there once.

A row is committed before it is sent, and so is the moment from which on it may have been counted. Then a crash, a
double run or a parallel one sends the same identifier again, which Stripe counts once for at least 24 hours.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import batched
from uuid import UUID

import stripe
import structlog
from django.db.models import Exists, F, Max, OuterRef, Q
from django.utils import timezone

from billing import plans, storage
from billing.errors import ReportSettled
from billing.models import MeterReport, StorageSample, UsageRecord
from billing.periods import month_after, month_before, month_of, start_of
from billing.stripe_client import Fate, client, fate_of
from billing.usage import units_counted

# Stripe promises 24 hours from the first send; the last repetition must arrive within them.
REPEATED_FOR = timedelta(hours=23, minutes=50)
BATCH = 500
FAILURES_THAT_END_A_PASS = 5

type Key = tuple[UUID, date, str]
"""account, month, meter."""

log = structlog.get_logger(__name__)


# --- What is owed goes into the ledger ---


def note_billable(*, now: datetime | None = None, account_id: UUID | None = None) -> int:
    """New rows for what is billable and in no row yet, of this month and the last, of one account or all; how many."""
    now = now or timezone.now()
    month = month_of(now)[0].date()
    records = UsageRecord.objects.filter(
        beyond_free(), month__in=[month_before(month), month], account__stripe_customer_id__isnull=False
    ).order_by("id")
    if account_id is not None:
        records = records.filter(account_id=account_id)
    return sum(_note(batch, now) for batch in batched(records.iterator(BATCH), BATCH))


def beyond_free() -> Q:
    """Records that may have anything billable: most have not, and are never looked at."""
    much = StorageSample.objects.filter(account=OuterRef("account"), day__gte=OuterRef("month"))
    beyond = Q(Exists(much.filter(bytes__gt=plans.METRICS["storage_gb"].free * plans.GB)))
    for meter in plans.COUNTED:
        beyond |= Q(**{f"{meter}__gt": plans.METRICS[meter].free})
    return beyond


def _note(records: Sequence[UsageRecord], now: datetime) -> int:
    owed = dict(billable_parts(records, now=now))
    noted, waits = noted_parts(owed), waiting(owed)
    missing = [
        report(key, noted.get(key, 0), parts, now)
        for key, parts in owed.items()
        if parts > noted.get(key, 0) and key not in waits
    ]
    # Of two processes that are here at once, the unique start lets one row in; what the other saw comes next time.
    MeterReport.objects.bulk_create(missing, ignore_conflicts=True)
    return len(missing)


def billable_parts(records: Sequence[UsageRecord], *, now: datetime) -> Iterator[tuple[Key, int]]:
    """What Stripe's meters should sum up to by now.

    The mean of a month that still runs may fall again, so of its storage only what is certain is reported.
    """
    months = [record.month for record in records]
    samples = storage.samples_of({record.account_id for record in records}, min(months), max(months))
    for record in records:
        units = {**units_counted(record), "storage_gb": Decimal(0)}
        if sampled := samples.get((record.account_id, record.month)):
            over = start_of(month_after(record.month)) <= now
            units["storage_gb"] = sampled.mean_gb if over else sampled.certain_gb(record.month)
        for meter, used in units.items():
            yield (record.account_id, record.month, meter), plans.METRICS[meter].billable_parts(used)


def noted_parts(keys: Iterable[Key]) -> dict[Key, int]:
    """What the ledger has: the end of its last row, for the rows follow one another."""
    accounts = {account_id for account_id, _, _ in keys}
    rows = MeterReport.objects.filter(account_id__in=accounts).values_list("account_id", "month", "meter").order_by()
    return {(row[0], row[1], row[2]): row[3] for row in rows.annotate(end=Max(F("start") + F("units")))}


def waiting(keys: Iterable[Key]) -> set[Key]:
    """Those with a row that waits for its turn: what has come on top goes into one row after it.

    So a pass that cannot send all leaves one row of each behind, however long it takes. What is in doubt may be so
    for a day, and is not waited for.
    """
    accounts = {account_id for account_id, _, _ in keys}
    rows = MeterReport.objects.filter(account_id__in=accounts, state=MeterReport.State.WAITING, in_doubt_since=None)
    return set(rows.values_list("account_id", "month", "meter"))


def report(key: Key, start: int, end: int, now: datetime) -> MeterReport:
    account_id, month, meter = key
    last_second = start_of(month_after(month)) - timedelta(seconds=1)
    return MeterReport(
        account_id=account_id,
        month=month,
        meter=meter,
        start=start,
        units=end - start,
        identifier=f"{account_id.hex}-{month:%Y%m}-{meter}-{start}-{end}",
        at=min(now.replace(microsecond=0), last_second),
    )


# --- The ledger goes to Stripe ---


def send_waiting(*, now: datetime | None = None, until: datetime | None = None) -> int:
    """Send every row that waits, those first that were tried least; how many are counted now."""
    sent, failures = 0, 0
    waiting = MeterReport.objects.filter(state=MeterReport.State.WAITING, account__stripe_customer_id__isnull=False)
    for row in waiting.select_related("account").order_by("attempts", "id").iterator(BATCH):
        moment = now or timezone.now()
        if until and moment >= until:
            break
        fate = send(row, now=moment)
        sent += fate is Fate.COUNTED
        failures = failures + 1 if fate in (Fate.LATER, Fate.IN_DOUBT) else 0
        if failures >= FAILURES_THAT_END_A_PASS:
            log.error("stripe_pass_ended_early", failures=failures, error=row.error)
            break
    return sent


def send(row: MeterReport, *, now: datetime) -> Fate | None:
    """What became of it; None: it has been in doubt for too long to be sent again."""
    if row.in_doubt_since and now - row.in_doubt_since >= REPEATED_FOR:
        _set(row, state=MeterReport.State.DOUBTFUL)
        log.error("meter_report_doubtful", identifier=row.identifier, since=row.in_doubt_since.isoformat())
        return None
    doubtful_before = row.in_doubt_since
    if not _begin(row, now):
        return None
    try:
        _post(row)
    except stripe.StripeError as error:
        fate, row.error = fate_of(error), str(error)[:2_000]
    else:
        fate, row.error = Fate.COUNTED, ""
    _settle(row, fate, doubtful_before, now)
    return fate


def _begin(row: MeterReport, now: datetime) -> bool:
    """Committed before the send; False when somebody else has settled it meanwhile."""
    waiting = MeterReport.objects.filter(pk=row.pk, state=MeterReport.State.WAITING, attempts=row.attempts)
    row.in_doubt_since, row.attempts = row.in_doubt_since or now, row.attempts + 1
    return bool(waiting.update(in_doubt_since=row.in_doubt_since, attempts=row.attempts))


def _post(row: MeterReport) -> None:
    customer = row.account.stripe_customer_id
    client().v1.billing.meter_events.create(
        {
            "event_name": plans.METRICS[row.meter].stripe_event,
            "identifier": row.identifier,
            "timestamp": int(row.at.timestamp()),
            "payload": {"stripe_customer_id": str(customer), "value": str(row.units)},
        }
    )


def _settle(row: MeterReport, fate: Fate, doubtful_before: datetime | None, now: datetime) -> None:
    match fate:
        case Fate.COUNTED:
            _set(row, state=MeterReport.State.SENT, sent_at=now, error=row.error)
        case Fate.REFUSED if doubtful_before is None:
            log.error("meter_report_refused", identifier=row.identifier, error=row.error)
            _set(row, state=MeterReport.State.REFUSED, in_doubt_since=None, error=row.error)
        case Fate.LATER | Fate.REFUSED:  # this send was not counted; one before it may have been
            _set(row, in_doubt_since=doubtful_before, error=row.error)
        case Fate.IN_DOUBT:
            _set(row, error=row.error)


def _set(row: MeterReport, **fields: object) -> None:
    """Unless somebody else has tried since: then theirs is the last word."""
    MeterReport.objects.filter(pk=row.pk, state=MeterReport.State.WAITING, attempts=row.attempts).update(**fields)


# --- What operators may say of a row ---


def send_again(row: MeterReport) -> None:
    """A refused one, once its reason is gone; Stripe has not counted it. Raises ReportSettled."""
    refused = MeterReport.objects.filter(pk=row.pk, state=MeterReport.State.REFUSED)
    if not refused.update(state=MeterReport.State.WAITING, error=""):
        raise ReportSettled


def mark_counted(row: MeterReport, *, now: datetime | None = None) -> None:
    """A doubtful one that was found at Stripe, or put right there by hand. Raises ReportSettled."""
    doubtful = MeterReport.objects.filter(pk=row.pk, state=MeterReport.State.DOUBTFUL)
    if not doubtful.update(state=MeterReport.State.SENT, sent_at=now or timezone.now()):
        raise ReportSettled
