"""What a subscription's status does to its account: unpaid suspends it, payment undoes that; nothing else locks out.

`trialing` and `past_due` are as good as `active`. A subscription that ended suspends only when it ended unpaid; who
just cancels keeps what is free. What an operator said of an account, Stripe never undoes.
"""

from collections.abc import Sequence

from django.db.models import F

from accounts.models import Account
from accounts.services import hold_for_payment, release_from_hold
from billing.locks import one_by_one
from billing.models import Subscription

GOOD = ("active", "trialing", "past_due")


def settle_all() -> int:
    """The accounts whose subscriptions say something that they have not felt yet: an outage was in the way."""
    customers = Subscription.objects.exclude(applied=F("status")).values_list("customer", flat=True).distinct()
    known = Account.objects.filter(stripe_customer_id__in=list(customers))
    return sum(settle(account) for account in known)


def settle_customer(customer: str) -> None:
    """Raises RedisDown with nothing changed."""
    for account in Account.objects.filter(stripe_customer_id=customer):
        settle(account)


def settle(account: Account) -> bool:
    """Only a change of status is felt: an account that an operator reactivated is not suspended for the same again."""
    with one_by_one(f"billing.settle {account.stripe_customer_id}"):
        subscriptions = list(Subscription.objects.filter(customer=account.stripe_customer_id or ""))
        if not any(each.applied != each.status for each in subscriptions):
            return False
        if is_good(subscriptions):
            release_from_hold(account)
        elif is_owed(subscriptions):
            hold_for_payment(account)
        for each in subscriptions:
            Subscription.objects.filter(pk=each.pk, status=each.status).update(applied=each.status)
    return True


def is_good(subscriptions: Sequence[Subscription]) -> bool:
    return any(each.status in GOOD for each in subscriptions)


def is_owed(subscriptions: Sequence[Subscription]) -> bool:
    """By the newest of them: what was before it is history."""
    newest = max(subscriptions, key=lambda each: (each.created_at, each.id))
    return newest.status == "unpaid" or (newest.status == "canceled" and newest.ended_unpaid)
