"""The API, the admin, Stripe's meters and the invoice say the same of a month."""

from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal

import pytest
from django.utils import timezone

from billing.models import UsageRecord
from billing.periods import month_of
from billing.plans import METRICS
from billing.storage import sample_storage
from billing.stripe_sync import sync_stripe
from billing.tasks import sync_stripe as task
from billing.usage import usage_of
from snapstate_project.celery import app
from tests.billing.fake_stripe import signed
from tests.billing.steps import happened, meter, replayed, resumed, saved

CENTS = {"checkpoint_writes": "0.1", "storage_gb": "0.009765625", "resume_calls": "0.05", "replay_calls": "0.2"}
"""What Stripe's prices ask for a unit of its meters, as docs/stripe.md has it."""


def invoiced(fake, customer):
    """What an invoice over the meters comes to, in cents."""
    sums = {metric: fake.summed(customer, METRICS[metric].stripe_event) for metric in METRICS}
    exact = sum(Decimal(CENTS[metric]) * units for metric, units in sums.items())
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))


@pytest.mark.parametrize("metric", METRICS)
def test_the_prices_at_stripe_are_ours(metric):
    assert Decimal(CENTS[metric]) * METRICS[metric].parts == METRICS[metric].price * 100


@pytest.mark.usefixtures("server_zone")
@pytest.mark.parametrize(
    "used",
    [
        {"checkpoint_writes": 10_000, "resume_calls": 5_000, "replay_calls": 1_000},
        {"checkpoint_writes": 10_001, "resume_calls": 5_001, "replay_calls": 1_001},
        {"checkpoint_writes": 123_456, "resume_calls": 77_777, "replay_calls": 4_321},
    ],
)
def test_api_admin_and_invoice_agree(api, operator_api, admin_client, account, customer, fake, hold, used):
    now = timezone.now()
    UsageRecord.objects.create(account=account, month=month_of(now)[0].date(), **used)
    hold(account, 0.75)
    sample_storage()
    sync_stripe()
    mine, theirs = api.get("/usage").json(), operator_api.get(f"/admin/accounts/{account.id}/usage").json()
    assert mine == theirs
    owed = mine["estimated_charge"]
    assert owed == f"${Decimal(invoiced(fake, customer)) / 100:.2f}"
    page = admin_client.get(f"/admin/billing/usagerecord/?q={account.email}").content.decode()
    assert f">{owed}<" in page.replace(" ", "").replace("\n", "")


@pytest.mark.usefixtures("server_zone")
@pytest.mark.parametrize(
    ("last", "first"),
    [
        ("2026-02-28T23:59:59.999999Z", "2026-03-01T00:00:00Z"),
        ("2028-02-29T23:59:59.999999Z", "2028-03-01T00:00:00Z"),
        ("2026-12-31T23:59:59.999999Z", "2027-01-01T00:00:00Z"),
        ("2026-12-01T12:59:59.999999+13:00", "2026-12-01T13:00:00+13:00"),
    ],
)
def test_the_last_moment_of_a_month_is_charged_to_it_and_the_next_to_the_next(account, hold, last, first):
    for at in (last, first):
        UsageRecord.objects.create(
            account=account, month=month_of(datetime.fromisoformat(at))[0].date(), replay_calls=1_000
        )
        happened(account, [saved(), resumed(), *[replayed()] * 3], at)
    meter()
    for at in (last, first):
        answer = usage_of(account.id, now=datetime.fromisoformat(at))
        assert answer["usage"]["replay_calls"] == {"count": 1_003, "free_remaining": 0, "billable": 3}
        assert answer["usage"]["checkpoint_writes"]["count"] == 1


def test_an_invoice_of_the_month_says_what_was_estimated(anonymous, operator_api, account, customer, fake):
    UsageRecord.objects.create(account=account, month=month_of(timezone.now())[0].date(), checkpoint_writes=34_560)
    sync_stripe()
    start, end = (int(moment.timestamp()) for moment in month_of(timezone.now()))
    told = {"id": f"in_{customer}", "object": "invoice", "customer": customer, "status": "open", "created": end}
    told |= {"amount_due": invoiced(fake, customer), "amount_paid": 0, "currency": "usd"}
    body, headers = signed(
        fake.event("invoice.finalized", {**told, "period_start": start, "period_end": end}, created=end)
    )
    anonymous.post("/billing/stripe-webhook", content=body, headers=headers)
    (shown,) = operator_api.get(f"/admin/accounts/{account.id}/invoices").json()
    usage = operator_api.get(f"/admin/accounts/{account.id}/usage").json()
    assert (shown["period_start"], shown["period_end"]) == (usage["period"]["start"], usage["period"]["end"])
    assert f"${shown['amount_due'] / 100:.2f}" == usage["estimated_charge"] == "$24.56"


def test_a_pass_makes_customers_notes_and_tells(account, fake):
    UsageRecord.objects.create(account=account, month=month_of(timezone.now())[0].date(), checkpoint_writes=10_001)
    assert task() >= 1
    account.refresh_from_db()
    assert fake.summed(account.stripe_customer_id, "snapstate_checkpoint_writes") == 1


def test_beat_tells_stripe_every_five_minutes():
    due = app.conf.beat_schedule["sync-stripe"]
    assert (due["task"], due["schedule"]) == (task.name, 300.0)


@pytest.mark.parametrize("path", ["usage", "invoices"])
def test_operators_routes_refuse_as_all_do(operator_api, api, anonymous, account, path):
    url = f"/admin/accounts/{account.id}/{path}"
    assert operator_api.get(url).status_code == 200
    assert [client.get(url).status_code for client in (api, anonymous)] == [401, 401]
    assert operator_api.get(f"/admin/accounts/00000000-0000-0000-0000-000000000000/{path}").status_code == 404
    assert [operator_api.post(url).status_code, operator_api.get(f"{url}?month=3").status_code] == [405, 400]


def test_an_account_that_stripe_does_not_know_has_no_invoices(operator_api, account):
    assert operator_api.get(f"/admin/accounts/{account.id}/invoices").json() == []


def test_months_of_dates_are_those_of_utc():
    assert month_of(datetime(2028, 2, 29, 23, tzinfo=UTC))[1] == datetime(2028, 3, 1, tzinfo=UTC)
    assert month_of(datetime(2026, 1, 1, tzinfo=UTC))[0].date() == date(2026, 1, 1)
