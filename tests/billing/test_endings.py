"""A deleted account is charged no more: its subscriptions end, with a last invoice, whatever Stripe does meanwhile."""

from datetime import date, timedelta
from typing import Any

import pytest
import stripe
from django.db import transaction
from django.utils import timezone

from accounts import closing
from accounts.models import Account, Deletion
from billing.meter_reports import send_waiting
from billing.models import MeterReport
from billing.stripe_endings import end_subscriptions
from snapstate_project.closing import close_due_accounts
from snapstate_project.events.catalogue import WorkflowResumed
from snapstate_project.events.recording import record_event
from tests.billing.steps import use
from tests.events.steps import drain

OUTAGE = 500, {"error": {"type": "api_error", "message": "Something went wrong"}}


@pytest.fixture
def subscribed(account: Account, customer: str, fake: Any) -> Account:
    fake.subscribe(customer)
    fake.subscribe(customer)
    account.refresh_from_db()
    return account


def close(account: Account) -> bool:
    """Whether its deletion, asked for eight days ago, has come to its end."""
    if not Deletion.objects.open().filter(account=account).exists():
        closing.schedule_deletion(account, reason="asked by mail")
    close_due_accounts(now=timezone.now() + timedelta(days=8))
    return not Deletion.objects.open().filter(account=account).exists()


def test_every_subscription_ends_with_a_last_invoice(subscribed: Account, fake: Any) -> None:
    assert close(subscribed)
    assert fake.subscriptions == {}
    assert list(fake.ended.values()) == [{"invoice_now": "true"}] * 2


def test_the_subscriptions_of_others_go_on(subscribed: Account, fake: Any) -> None:
    fake.customers["cus_other"] = {"id": "cus_other", "email": "other@example.com"}
    other = fake.subscribe("cus_other")
    assert close(subscribed)
    assert list(fake.subscriptions) == [other]


def test_an_outage_of_stripe_holds_back_only_the_end(subscribed: Account, fake: Any) -> None:
    fake.fail = [OUTAGE]
    with pytest.raises(stripe.APIError):
        close(subscribed)
    assert len(fake.subscriptions) == 2
    assert close(subscribed)
    assert fake.subscriptions == {}


def test_usage_that_stripe_has_not_been_told_of_comes_first(subscribed: Account, fake: Any) -> None:
    report = MeterReport.objects.create(
        account=subscribed, month=date(2026, 11, 1), meter="checkpoint_writes", start=0, units=5,
        identifier=f"r{subscribed.pk}",
        at=timezone.now(),
    )  # fmt: skip
    assert not close(subscribed)
    assert len(fake.subscriptions) == 2
    MeterReport.objects.filter(pk=report.pk).update(state=MeterReport.State.SENT)
    assert close(subscribed)


def test_usage_that_no_pass_has_noted_yet_is_on_the_last_invoice(subscribed: Account, customer: str, fake: Any) -> None:
    use(subscribed, checkpoint_writes=10_500)
    assert not close(subscribed)
    assert len(fake.subscriptions) == 2
    send_waiting()
    assert close(subscribed)
    assert fake.summed(customer, "snapstate_checkpoint_writes") == 500


def test_usage_that_is_not_counted_yet_is_on_the_last_invoice(subscribed: Account, fake: Any) -> None:
    drain("billing", limit=1_000)
    with transaction.atomic():
        resumed = WorkflowResumed(digest="d" * 32, generation=1, workflow_id="wf", agent_id="")
        record_event("workflow.resumed", subscribed.pk, resumed)
    assert not close(subscribed)
    assert len(fake.subscriptions) == 2
    drain("billing", limit=1_000)
    assert close(subscribed)


def test_what_ended_in_the_meantime_or_is_forgotten_holds_back_nothing(subscribed: Account, fake: Any) -> None:
    fake.fail = [(404, {"error": {"type": "invalid_request_error", "code": "resource_missing", "message": "gone"}})]
    assert end_subscriptions(subscribed)
    fake.customers.clear()
    assert end_subscriptions(subscribed)


def test_without_stripe_there_is_nothing_to_end(account: Account) -> None:
    assert end_subscriptions(account)
