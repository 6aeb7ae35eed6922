"""Accounts whose deletion is due: every room lets go of what it holds, through its services, and the account closes.

A pass may stop anywhere: what is done stays done, and the next pass goes on. Two passes at once do no harm.
"""

from contextlib import suppress
from datetime import datetime

import structlog
from django.utils import timezone

from accounts import closing
from accounts.models import Deletion
from agents_app import services as agents
from billing.stripe_endings import end_subscriptions
from checkpoints import leaving
from snapstate_project.common import stopping
from snapstate_project.common.errors import RedisDown
from snapstate_project.events import queue
from webhooks import services as webhooks
from webhooks.errors import EndpointNotFound
from webhooks.models import Endpoint

ACCOUNTS_A_PASS = 100
IN_FLIGHT_SECONDS = 10.0  # a save admitted just before the suspension is in the queue by then

log = structlog.get_logger(__name__)


def close_due_accounts(*, now: datetime | None = None) -> int:
    """How many were finished. Raises RedisDown at once, with the rest left for the next pass.

    What fails of one account holds back no other: it is raised when all had their turn.
    """
    now = now or timezone.now()
    finished, failures = 0, []
    for deletion in Deletion.objects.open().filter(due_at__lte=now).order_by("due_at")[:ACCOUNTS_A_PASS]:
        if stopping.has_begun():
            break
        try:
            finished += close_account(deletion, now)
        except RedisDown:
            raise
        except Exception as error:
            log.exception("account_not_deleted", account=str(deletion.account_id))
            failures.append(error)
    if failures:
        raise failures[0]
    return finished


def close_account(deletion: Deletion, now: datetime) -> bool:
    """Whether it came to its end; else it goes on with the next pass."""
    if not closing.begin_deletion(deletion, now=now):
        return False
    deletion.refresh_from_db()
    for endpoint in Endpoint.objects.of(deletion.account_id):
        with suppress(EndpointNotFound):  # another pass was faster
            webhooks.delete_endpoint(deletion.account_id, endpoint.webhook_id)
    agents.delete_agents(deletion.account_id)
    was_taken = all_is_taken(deletion, now)  # asked first: what is taken after this is not erased by what follows
    if not (leaving.erase_some(deletion.account_id) and was_taken):
        return False
    if not end_subscriptions(deletion.account):  # last: an outage of Stripe's is no reason to keep what is to be erased
        return False
    closing.finish_deletion(deletion)
    log.info("account_deleted", account=str(deletion.account_id))
    return True


def all_is_taken(deletion: Deletion, now: datetime) -> bool:
    """Nothing of the account waits in Redis any more: what intake has not taken is younger than the suspension."""
    return queue.lag_seconds() < (now - deletion.asked_at).total_seconds() - IN_FLIGHT_SECONDS
