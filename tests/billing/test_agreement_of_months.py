"""Months that do not say what their days say are told to operators, before anybody bills them."""

from datetime import timedelta

from django.utils import timezone

from billing.agreement import unequal_months
from billing.models import UsageDay, UsageRecord
from billing.periods import month_of
from tests.billing.steps import happened, meter, saved

PAGE = "/admin/billing/usagerecord/"


def differing(account, month):
    return [each for each in unequal_months([month]) if each.account_id == account.pk]


def test_what_was_metered_agrees(account, admin_client):
    happened(account, [saved(), saved()], timezone.now().isoformat())
    meter()
    this = month_of(timezone.now())[0].date()
    assert UsageRecord.objects.get(account=account, month=this).checkpoint_writes == 2
    assert differing(account, this) == []
    assert account.email not in admin_client.get(PAGE).text.split('id="changelist-form"')[0]


def forget_what_others_left(month):
    """Tests that write down a month alone; of many that differ only some are shown."""
    while others := unequal_months([month]):
        UsageRecord.objects.filter(month=month, account__in=[each.account_id for each in others]).delete()


def test_a_month_that_differs_from_its_days_is_named(account, admin_client):
    this = month_of(timezone.now())[0].date()
    forget_what_others_left(this)
    UsageRecord.objects.create(account=account, month=this, checkpoint_writes=70_007)
    UsageDay.objects.create(account=account, day=this, checkpoint_writes=60_006, resume_calls=1)
    UsageDay.objects.create(account=account, day=this - timedelta(days=1), checkpoint_writes=5)
    (found,) = differing(account, this)
    assert (found.writes, found.writes_by_day, found.resumes, found.resumes_by_day) == (70_007, 60_006, 0, 1)
    page = admin_client.get(PAGE).text
    assert "They differ" in page
    assert account.email in page.split('id="changelist-form"')[0]
    UsageRecord.objects.filter(account=account).delete()
    UsageDay.objects.filter(account=account).delete()
