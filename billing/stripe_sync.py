"""What is told to Stripe, a pass at a time: customers, then what they owe. Many passes at once do what one does."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import stripe
import structlog
from django.utils import timezone

from accounts.models import Account
from accounts.services import change_account
from billing import meter_reports, stripe_client, stripe_states
from billing.locks import alone
from billing.stripe_client import Fate, client, fate_of

PASS = timedelta(minutes=4)
OURS = "snapstate_account_id"

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Pass:
    customers: int = 0
    noted: int = 0
    sent: int = 0


def sync_stripe(*, now: datetime | None = None) -> Pass:
    """Does nothing without STRIPE_SECRET_KEY, or while another process is at it."""
    done, until = Pass(), timezone.now() + PASS
    if not stripe_client.is_on():
        return done
    with alone("billing.sync_stripe") as ours:
        if ours:
            done.customers = make_customers(until=until)
            stripe_states.settle_all()
            done.noted = meter_reports.note_billable(now=now)
            done.sent = meter_reports.send_waiting(now=now, until=until)
            log.info("stripe_pass", customers=done.customers, noted=done.noted, sent=done.sent)
    return done


def make_customers(*, until: datetime | None = None) -> int:
    """For every account that has none and is not closed."""
    made = 0
    without = Account.objects.filter(stripe_customer_id=None).exclude(status=Account.Status.CLOSED)
    for account in without.order_by("created_at").iterator():
        if until and timezone.now() >= until:
            break
        try:
            make_customer(account)
        except stripe.StripeError as error:
            log.error("stripe_customer_failed", account_id=str(account.pk), error=str(error))
            if fate_of(error) is not Fate.REFUSED:
                break  # an outage; an account that Stripe will not have is in nobody else's way
        else:
            made += 1
    return made


def make_customer(account: Account) -> str:
    """The id of the account's customer: the one there is (a pass may have died before noting it), or a new one.

    Two who make one at once make the same, by its idempotency key.
    """
    customer_id = found_customer(account) or created_customer(account)
    change_account(account, only_if={"stripe_customer_id": None}, stripe_customer_id=customer_id)
    return customer_id


def found_customer(account: Account) -> str | None:
    same_email = client().v1.customers.list({"email": account.email, "limit": 100})
    ours = (customer for customer in same_email.auto_paging_iter() if customer_is_of(customer, account))
    return next((customer.id for customer in ours), None)


def customer_is_of(customer: stripe.Customer, account: Account) -> bool:
    return customer.metadata is not None and customer.metadata.to_dict().get(OURS) == str(account.pk)


def created_customer(account: Account) -> str:
    wanted: stripe.params.CustomerCreateParams = {
        "email": account.email,
        "name": account.name,
        "metadata": {OURS: str(account.pk)},
    }
    return client().v1.customers.create(wanted, {"idempotency_key": f"snapstate-customer-{account.pk}"}).id
