"""The end of an account: asked for by an operator, undone until it begins, and then gone through with to its end.

Each step here is one transaction that may be repeated; what other rooms hold is erased by the wiring in between.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from accounts import services
from accounts.errors import AccountClosed, DeletionBegun, DeletionScheduled
from accounts.models import Account, ApiKey, Deletion

GRACE_DAYS = 7
MOST_GRACE_DAYS = 90


def schedule_deletion(
    account: Account, *, reason: str, days: int = GRACE_DAYS, now: datetime | None = None
) -> Deletion:
    """Suspended from now on, erased and closed after so many days. Raises DeletionScheduled, AccountClosed."""
    now = now or timezone.now()
    with transaction.atomic(durable=True):
        account = services.locked(account.pk)
        if account.deletions.open().exists():
            raise DeletionScheduled
        if account.status == Account.Status.CLOSED:
            raise AccountClosed("The account is closed already.")
        due_at = now + timedelta(days=days)
        # What Stripe says, before and meanwhile, stays noted in `held_for_payment`: it is no operator's word.
        before = Account.Status.ACTIVE if account.held_for_payment else account.status
        deletion = Deletion(account=account, reason=reason, due_at=due_at, status_before=before)
        deletion.reason_before = account.status_reason
        deletion.save()
        set_status(account, Account.Status.SUSPENDED, f"To be deleted: {reason}"[:300])
    return deletion


def undo_deletion(account: Account) -> Account:
    """As if nobody had asked: suspended before, or unpaid by now, it stays suspended. Raises DeletionBegun."""
    with transaction.atomic(durable=True):
        account = services.locked(account.pk)
        deletion = account.deletions.open().filter(began_at=None).first()
        if deletion is None:
            raise DeletionBegun
        deletion.undone_at = timezone.now()
        deletion.save(update_fields=["undone_at"])
        is_unpaid = account.held_for_payment and deletion.status_before == Account.Status.ACTIVE
        status = Account.Status.SUSPENDED if is_unpaid else deletion.status_before
        return set_status(account, status, deletion.reason_before)


def begin_deletion(deletion: Deletion, *, now: datetime | None = None) -> bool:
    """Closes the account; from here on there is no way back. False when it was undone in the meantime."""
    with transaction.atomic(durable=True):
        account = services.locked(deletion.account_id)
        deletion = account.deletions.get(pk=deletion.pk)
        if deletion.undone_at is not None:
            return False
        if deletion.began_at is None:
            deletion.began_at = now or timezone.now()
            deletion.save(update_fields=["began_at"])
        set_status(account, Account.Status.CLOSED, f"Deleted: {deletion.reason}"[:300], held_for_payment=False)
    return True


def finish_deletion(deletion: Deletion) -> None:
    """The keys, for good, and the last word. All else is erased by now."""
    for key in ApiKey.objects.filter(account=deletion.account_id, revoked_at=None):
        services.revoke_key(key)
    deletion.finished_at = timezone.now()
    deletion.save(update_fields=["finished_at"])


def set_status(account: Account, status: str, reason: str, **more: bool) -> Account:
    """Of a locked row, although a deletion is open."""
    return services.apply_changes(account, {"status": status, "status_reason": reason, **more})
