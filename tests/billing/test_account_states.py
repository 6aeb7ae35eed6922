"""Unpaid suspends an account, payment undoes that; an operator's word stands above Stripe's."""

import itertools
from datetime import UTC, datetime

import pytest

from accounts import services
from accounts.models import Account
from billing.models import Subscription
from billing.stripe_states import settle_all
from tests.billing.fake_stripe import signed

PATH = "/billing/stripe-webhook"
CLOCK = itertools.count(1_796_083_300)


@pytest.fixture
def subscription(anonymous, fake, customer):
    """Stripe tells what has become of the account's subscription; what we answered."""

    def become(status, name="sub", reason=None, created=1_796_083_200, at=None):
        ended = {"reason": reason}
        told = {"id": f"{name}_{customer}", "object": "subscription", "customer": customer, "status": status}
        told |= {"created": created, "cancellation_details": ended}
        body, headers = signed(fake.event("customer.subscription.updated", told, created=at or next(CLOCK)))
        return anonymous.post(PATH, content=body, headers=headers).status_code

    return become


def status_of(account):
    return Account.objects.get(pk=account.pk).status


@pytest.mark.parametrize("status", ["trialing", "past_due", "active", "incomplete", "incomplete_expired", "paused"])
def test_nobody_is_locked_out_who_may_still_pay(account, subscription, api, status):
    assert subscription(status) == 200
    assert status_of(account) == "active"
    assert api.get("/usage").status_code == 200


def test_unpaid_locks_out_at_once_and_payment_lets_in_again(account, subscription, api):
    assert api.get("/usage").status_code == 200
    subscription("unpaid")
    assert api.get("/usage").status_code == 403
    subscription("active")
    assert api.get("/usage").status_code == 200


@pytest.mark.parametrize(
    ("reason", "status"),
    [
        ("payment_failed", "suspended"),
        ("payment_disputed", "suspended"),
        ("cancellation_requested", "active"),
        (None, "active"),
    ],
)
def test_a_subscription_that_ended_locks_out_only_who_did_not_pay(account, subscription, reason, status):
    subscription("active")
    subscription("canceled", reason=reason)
    assert status_of(account) == status


@pytest.mark.parametrize("status", ["active", "trialing", "past_due"])
def test_an_operators_suspension_is_never_undone(account, subscription, status):
    services.suspend_account(account)
    subscription("unpaid")
    subscription(status)
    assert status_of(account) == "suspended"


def test_a_suspension_that_an_operator_confirms_is_the_operators(account, subscription, operator_api):
    subscription("unpaid")
    answer = operator_api.patch(f"/admin/accounts/{account.id}", json={"status": "suspended"})
    assert answer.json()["status"] == "suspended"
    subscription("active")
    assert status_of(account) == "suspended"


def test_an_account_that_an_operator_let_in_is_not_locked_out_for_the_same_again(account, subscription):
    subscription("unpaid")
    services.reactivate_account(account)
    subscription("unpaid")
    assert status_of(account) == "active"
    subscription("past_due")
    subscription("unpaid")
    assert status_of(account) == "suspended"


def test_a_closed_account_stays_closed(account, subscription):
    services.update_account(account, status="closed")
    for status in ("unpaid", "active"):
        subscription(status)
    assert status_of(account) == "closed"


def test_an_older_word_does_not_count(account, subscription):
    late = next(CLOCK) + 1_000
    subscription("active", at=late)
    subscription("unpaid", at=late - 500)
    assert status_of(account) == "active"


def test_a_second_subscription_that_is_paid_keeps_the_account_open(account, subscription):
    subscription("canceled", reason="payment_failed")
    subscription("active", name="sub2", created=1_796_083_900)
    assert status_of(account) == "active"
    subscription("unpaid")
    assert status_of(account) == "active"


def test_what_something_was_in_the_way_of_is_done_by_the_next_pass(account, customer):
    made = datetime.fromtimestamp(1_796_083_200, UTC)
    row = Subscription(pk=f"sub_{customer}", customer=customer, status="unpaid", created_at=made, told_at=1)
    row.save()
    settle_all()
    row.refresh_from_db()
    assert (status_of(account), row.applied) == ("suspended", "unpaid")
