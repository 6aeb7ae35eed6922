"""The end of an account at Stripe: its subscriptions end, with a last invoice for what was used and not billed yet."""

import stripe
import structlog

from accounts.models import Account
from billing.meter_reports import note_billable
from billing.models import MeterReport
from billing.stripe_client import client, is_on
from snapstate_project.events.services import has_heard

UNKNOWN = "resource_missing"

log = structlog.get_logger(__name__)


def end_subscriptions(account: Account) -> bool:
    """Whether none is left; False while usage waits that Stripe has not been told of. Raises StripeError.

    Stripe is asked which there are: an event that never came is no reason to go on charging.
    """
    customer = account.stripe_customer_id
    if not is_on() or customer is None:
        return True
    if not has_heard("billing", account.pk):
        return False
    note_billable(account_id=account.pk)  # no pass may have come by since the last of it was used
    if MeterReport.objects.filter(account=account, state=MeterReport.State.WAITING).exists():
        return False
    try:
        running = list(client().v1.subscriptions.list({"customer": customer, "limit": 100}).auto_paging_iter())
    except stripe.InvalidRequestError as error:
        if error.code != UNKNOWN:
            raise
        running = []  # Stripe has forgotten the customer, and charges nobody
    for subscription in running:
        end(subscription.id)
    return True


def end(subscription_id: str) -> None:
    try:
        client().v1.subscriptions.cancel(subscription_id, {"invoice_now": True})
    except stripe.InvalidRequestError as error:
        if error.code != UNKNOWN:  # else it ended in the meantime
            raise
    log.info("subscription_ended", subscription=subscription_id)
