"""The calculator and the server's own bill agree, to the cent, for the same usage."""

from decimal import Decimal

import pytest
from django.utils import timezone

from accounts.models import Account
from billing.models import StorageSample, UsageRecord
from billing.periods import month_of
from billing.plans import GB
from billing.usage import usage_of
from tests.docs.browsing import CHROMIUM, browser_on

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here")]

USED = [
    ("50000", "5", "20000", "3000"),
    ("10000", "1", "5000", "1000"),
    ("10001", "1.5", "5001", "1001"),
    ("10004", "1.25", "5013", "1002"),
    ("499999", "99.5", "199999", "49999"),
    ("500000", "100", "200000", "50000"),
    ("0", "0", "0", "0"),
    ("10005", "0", "0", "0"),
]
FIGURES = ("Writes", "Storage, GB-months", "Resumes", "Replays")


def billed(account: Account, writes: str, storage: str, resumes: str, replays: str) -> str:
    """As the server bills an account that used so much this month."""
    now = timezone.now()
    UsageRecord.objects.create(
        account=account,
        month=month_of(now)[0].date(),
        checkpoint_writes=int(writes),
        resume_calls=int(resumes),
        replay_calls=int(replays),
    )
    StorageSample.objects.create(account=account, day=now.date(), bytes=int(Decimal(storage) * GB))
    return usage_of(account.pk, now=now)["estimated_charge"]


def test_it_agrees_with_the_server_s_bill(base_url, make_account):
    bills = {used: billed(make_account(), *used) for used in USED}
    assert bills[USED[0]] == "$51.90"
    with browser_on(base_url) as browsing:
        page = browsing.open("/docs/pricing")
        assert page.get_by_test_id("total").inner_text() == "$51.90"
        for used, bill in bills.items():
            for name, value in zip(FIGURES, used, strict=True):
                page.get_by_label(f"{name}, as a figure").fill(value)
            assert page.get_by_test_id("total").inner_text() == bill, used
        assert browsing.faults == []


def test_sliders_move_it_within_their_ranges(base_url):
    with browser_on(base_url) as browsing:
        page = browsing.open("/docs/pricing")
        most = [page.locator(f"#{name}").get_attribute("max") for name in ("checkpoint_writes", "storage_gb")]
        assert most == ["500000", "100"]
        page.locator("#checkpoint_writes").focus()
        page.keyboard.press("ArrowRight")
        assert page.get_by_test_id("total").inner_text() == "$52.90"
        page.get_by_label("Resumes, as a figure").fill("99999999")
        assert page.get_by_label("Resumes, as a figure").input_value() == "200000"
