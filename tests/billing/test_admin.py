"""What operators see of usage and payments, and what they may settle: by their group's permissions."""

import re
import uuid
from datetime import UTC, datetime
from urllib.parse import urljoin

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from billing.meter_reports import note_billable
from billing.models import Invoice, MeterReport, Subscription, UsageRecord
from billing.periods import month_of
from billing.storage import sample_storage
from tests.billing.steps import happened, meter, saved

PAGES = ["usagerecord", "usageday", "storagesample", "quotawarning", "invoice", "subscription", "meterreport"]


@pytest.fixture
def record(account):
    month = month_of(timezone.now())[0].date()
    return UsageRecord.objects.create(account=account, month=month, checkpoint_writes=12_345)


@pytest.fixture
def member():
    """A browser's session of an operator of a group."""

    def of(group):
        name = f"{group}-{uuid.uuid4().hex[:12]}"
        user = get_user_model().objects.create_user(username=name, is_staff=True)
        user.groups.add(Group.objects.get(name=group))
        client = Client(SERVER_NAME="localhost")
        client.force_login(user)
        return client

    return of


def text_of(client, path, **query):
    answer = client.get(urljoin("/admin/billing/", path), query)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


@pytest.mark.parametrize("page", PAGES)
def test_finance_sees_every_page(member, page):
    assert "Select" in text_of(member("finance"), f"{page}/")


@pytest.mark.parametrize("page", PAGES)
def test_who_is_in_no_group_sees_none(member, page):
    Group.objects.get_or_create(name="nobody")
    assert member("nobody").get(f"/admin/billing/{page}/").status_code == 403


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("act", ["add/", "1/delete/"])
def test_nobody_adds_or_deletes(admin_client, page, act):
    assert admin_client.get(f"/admin/billing/{page}/{act}").status_code in (302, 403)


def test_a_month_shows_its_estimate_and_its_statement(admin_client, record, account, hold):
    hold(account, 3)
    sample_storage()
    assert "$2.55" in text_of(admin_client, "usagerecord/", q=account.email)
    page = text_of(admin_client, f"usagerecord/{record.pk}/change/")
    assert all(said in page for said in ("12,345", "2,345", "$2.3450", "2.000000", "$0.2000"))
    assert "Counted by Stripe" not in page


def test_a_list_of_months_asks_once_for_all_its_rows(admin_client, make_account):
    month = datetime(2031, 1, 1, tzinfo=UTC).date()
    for _ in range(3):
        UsageRecord.objects.create(account=make_account(), month=month)
    with CaptureQueriesContext(connection) as asked:
        text_of(admin_client, "usagerecord/", month_from="2031-01-01", month_to="2031-01-01")
    assert len([each for each in asked if "billing_storagesample" in each["sql"]]) == 1


def test_samples_and_warnings_are_shown(admin_client, account, hold):
    hold(account, 2)
    sample_storage()
    assert "2.0 GB" in text_of(admin_client, "storagesample/", q=str(account.id))
    page = text_of(admin_client, "quotawarning/", q=account.email)
    assert all(said in page for said in ("Storage, GB-months", "80 %", "100 %", "2.000000"))


def test_a_warning_of_writes_is_shown(admin_client, account):
    UsageRecord.objects.create(account=account, month=datetime(2026, 3, 1, tzinfo=UTC).date(), checkpoint_writes=7_999)
    happened(account, [saved()], "2026-03-01T00:00:00Z")
    meter()
    assert "8,000" in text_of(admin_client, "quotawarning/", q=account.email)


def test_the_ledger_shows_what_stripe_has_not_counted(admin_client, record, account, customer):
    note_billable()
    report = MeterReport.objects.get(account=account)
    MeterReport.objects.filter(pk=report.pk).update(state="doubtful", error="Read timed out")
    page = text_of(admin_client, "meterreport/", q=str(account.id))
    assert all(said in page for said in (account.email, "2,345 doubtful", "Read timed out"))
    assert report.identifier in text_of(admin_client, f"meterreport/{report.pk}/change/")
    assert "2,345 doubtful" in text_of(admin_client, f"usagerecord/{record.pk}/change/")


def test_without_stripe_the_ledger_says_so(admin_client):
    assert "STRIPE_SECRET_KEY is not set" in text_of(admin_client, "meterreport/")


@pytest.mark.parametrize(
    ("state", "act", "becomes"), [("refused", "send_again", "waiting"), ("doubtful", "mark_counted", "sent")]
)
def test_finance_settles_what_a_person_must(member, record, account, customer, state, act, becomes):
    note_billable()
    report = MeterReport.objects.get(account=account)
    MeterReport.objects.filter(pk=report.pk).update(state=state)
    support, finance = member("support"), member("finance")
    path = reverse(f"admin:billing_meterreport_{act}", args=[report.pk])
    shown = reverse("admin:billing_meterreport_change", args=[report.pk])
    assert [path in client.get(shown).content.decode() for client in (support, finance)] == [False, True]
    assert support.post(path, {"confirmed": "yes"}).status_code == 403
    assert finance.get(path).status_code == 200
    assert MeterReport.objects.get(pk=report.pk).state == state
    finance.post(path, {"confirmed": "yes"})
    assert MeterReport.objects.get(pk=report.pk).state == becomes


def test_invoices_and_subscriptions_are_shown_with_their_account(admin_client, account, customer):
    now = timezone.now()
    common = {"customer": customer, "created_at": now, "told_at": 1}
    amounts = {"currency": "usd", "amount_due": 123_456, "amount_paid": 0, "invoice_pdf": "javascript:alert(1)"}
    Invoice.objects.create(pk=f"in_{customer}", status="open", period_start=now, period_end=now, **amounts, **common)
    Subscription.objects.create(pk=f"sub_{customer}", status="past_due", applied="past_due", **common)
    page = text_of(admin_client, "invoice/", q=customer)
    assert account.email in page
    assert "$1,234.56" in page
    assert "javascript:alert" not in page
    assert account.email in text_of(admin_client, "subscription/", q=f"sub_{customer}")


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        (123_456, "usd", "$1,234.56"),
        (-5, "usd", "-$0.05"),
        (2**63 - 1, "usd", "$92,233,720,368,547,758.07"),
        (5_000, "jpy", "5,000 JPY (smallest unit)"),
    ],
)
def test_an_amount_is_the_same_on_every_page(admin_client, account, customer, amount, currency, shown):
    at = timezone.now()
    common = {"customer": customer, "status": "open", "created_at": at, "told_at": 1}
    period = {"period_start": at, "period_end": at}
    Invoice.objects.create(pk=f"in_{customer}", currency=currency, amount_due=amount, amount_paid=0, **common, **period)
    assert shown in text_of(admin_client, "invoice/", q=customer)
    assert shown in text_of(admin_client, f"../accounts/account/{account.pk}/change/")


def test_a_subscription_says_in_words_how_it_is(admin_client, customer):
    row = Subscription.objects.create(
        pk=f"sub_{customer}", status="active", applied="active", customer=customer, created_at=timezone.now(), told_at=1
    )

    def said(**now):
        Subscription.objects.filter(pk=row.pk).update(**now)
        cells = re.findall(r"field-(unpaid|felt)[^>]*>(.*?)</td>", text_of(admin_client, "subscription/", q=row.pk))
        return {name: re.sub(r"<[^>]+>", "", cell).strip() for name, cell in cells}

    assert said() == {"unpaid": "No", "felt": "Yes"}
    assert said(status="canceled", ended_unpaid=True) == {"unpaid": "Yes", "felt": "Not yet"}


def test_dashes_alone_name_no_report(admin_client, record, account, customer):
    note_billable()
    path = f"/meterreport/{MeterReport.objects.get(account=account).pk}/"
    found = [path in text_of(admin_client, "meterreport/", q=term) for term in ("----", str(account.id))]
    assert found == [False, True]
