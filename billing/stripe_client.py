"""The one way to Stripe: the client as settings have it, and what a failure means for what was sent."""

from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

import stripe
import urllib3.exceptions
from django.conf import settings

NEVER_SENT = (
    urllib3.exceptions.NewConnectionError,
    urllib3.exceptions.ConnectTimeoutError,
    urllib3.exceptions.NameResolutionError,
)
COME_AGAIN = (401, 403, 409, 429)


class Fate(Enum):
    """Of a meter event that was not simply taken."""

    COUNTED = "counted"  # before: its identifier is known
    REFUSED = "refused"  # not counted, and never will be as it is
    LATER = "later"  # not counted this time
    IN_DOUBT = "in doubt"  # nobody knows


def is_on() -> bool:
    return bool(settings.STRIPE_SECRET_KEY)


def client() -> stripe.StripeClient:
    return made(settings.STRIPE_SECRET_KEY, settings.STRIPE_API_BASE, settings.STRIPE_TIMEOUT_SECONDS)


@lru_cache(maxsize=4)
def made(key: str, base: str, timeout: float) -> stripe.StripeClient:
    """Without retries of the library's own: what is repeated, and until when, is the ledger's to say."""
    return stripe.StripeClient(
        key,
        base_addresses={"api": base},
        max_network_retries=0,
        http_client=stripe.RequestsClient(timeout=timeout),
    )


def fate_of(error: stripe.StripeError) -> Fate:
    status = error.http_status or 0
    if status == 400 and (error.code == "duplicate_meter_event" or "already exists with identifier" in str(error)):
        return Fate.COUNTED
    if status in COME_AGAIN or never_sent(error):
        return Fate.LATER
    return Fate.REFUSED if 400 <= status < 500 else Fate.IN_DOUBT


def never_sent(error: stripe.StripeError) -> bool:
    """Not one byte of it can have reached Stripe."""
    return any(isinstance(cause, NEVER_SENT) for cause in causes(error))


def causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what is beneath it, in whichever way each library says so."""
    waiting, seen = [error], set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        beneath = [each.__cause__, each.__context__, getattr(each, "reason", None), *each.args]
        waiting += [cause for cause in beneath if isinstance(cause, BaseException)]
