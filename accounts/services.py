"""What changes accounts and keys. Callers must feel every change within a second, so Redis hears of it first.

A tombstone makes all processes ask Postgres from then on, and only then is the change committed: when Redis is down,
nothing has changed. It is renewed after the commit, which clears what was cached in between by a Redis that
had just forgotten it.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts import admission, keys
from accounts.errors import AccountClosed, DeletionScheduled, EmailTaken, MaxKeysReached
from accounts.models import Account, ApiKey
from snapstate_project.common.errors import RedisDown, ValidationFailed

logger = logging.getLogger(__name__)

FELT_BY_CALLERS = ("status", "rate_limit_max")


class Position(msgspec.Struct, array_like=True):
    """Where a list of keys stands: the last one shown."""

    created_at: datetime
    id: UUID


def create_account(*, email: str, name: str = "", plan: str = "free") -> Account:
    """Raises EmailTaken, whatever the case of its letters; ValidationFailed for what is no address."""
    email = address(email)
    try:
        with transaction.atomic():
            return Account.objects.create(email=email, name=name, plan=plan)
    except IntegrityError as error:
        raise EmailTaken from error


def address(email: str) -> str:
    """As it is kept: in lower case, and looked at as such, for that can be longer.

    Before the @ only ASCII: beyond it, letters such as the Kelvin sign become others' in lower case.
    """
    email = email.strip()
    if not email.rpartition("@")[0].isascii():
        raise ValidationFailed.at("email", "must be an address with only ASCII before the @")
    try:
        kept: str = Account._meta.get_field("email").clean(email.lower(), None)
    except ValidationError as error:
        raise ValidationFailed.at("email", " ".join(error.messages)) from None
    return kept


def update_account(account: Account, **changes: Any) -> Account:
    """Sets any of plan, status and the limits (None: no limit of its own); raises RedisDown with nothing changed.

    The status of an account that is to be deleted stays: raises DeletionScheduled.
    """
    if "status" in changes:
        # The status is an operator's from now on, even when it was so before, and so is the reason.
        changes = {"status_reason": "", **changes, "held_for_payment": False}
    return change_account(account, **changes)


def hold_for_payment(account: Account) -> Account:
    """Suspends an active account, in a way that only payment or an operator undoes."""
    return set_hold(account, held=True, before=Account.Status.ACTIVE, after=Account.Status.SUSPENDED)


def release_from_hold(account: Account) -> Account:
    """Undoes hold_for_payment, and nothing that an operator has said since."""
    return set_hold(account, held=False, before=Account.Status.SUSPENDED, after=Account.Status.ACTIVE)


def set_hold(account: Account, *, held: bool, before: str, after: str) -> Account:
    """Of an account that is to be deleted it is only noted, and felt when the deletion is undone."""
    with transaction.atomic(durable=True):
        account = locked(account.pk)
        if deletion := account.deletions.open().first():
            is_operators = deletion.status_before != Account.Status.ACTIVE
            return account if is_operators else apply_changes(account, {"held_for_payment": held})
        if account.status != before or account.held_for_payment == held:
            return account
        return apply_changes(account, {"status": after, "held_for_payment": held})


def change_account(account: Account, *, only_if: Mapping[str, Any] | None = None, **changes: Any) -> Account:
    """Under the account's lock; `only_if`: what must hold there, or nothing changes."""
    with transaction.atomic(durable=True):
        account = locked(account.pk)
        if any(getattr(account, field) != value for field, value in (only_if or {}).items()):
            return account
        if "status" in changes and account.deletions.open().exists():
            raise DeletionScheduled
        return apply_changes(account, changes)


def apply_changes(account: Account, changes: Mapping[str, Any]) -> Account:
    """To a locked row, within the transaction that has locked it."""
    changes = {field: value for field, value in changes.items() if getattr(account, field) != value}
    if any(field in FELT_BY_CALLERS for field in changes):
        bury_around_commit(account.keys.in_use(timezone.now()).values_list("digest", flat=True))
    for field, value in changes.items():
        setattr(account, field, value)
    account.save(update_fields=[*changes, "updated_at"])
    return account


def suspend_account(account: Account, *, reason: str = "") -> Account:
    return update_account(account, status=Account.Status.SUSPENDED, status_reason=reason)


def reactivate_account(account: Account, *, reason: str = "") -> Account:
    return update_account(account, status=Account.Status.ACTIVE, status_reason=reason)


def set_rate_limit(account: Account, limit: int | None) -> Account:
    return update_account(account, rate_limit_max=limit)


def issue_key(
    account: Account, *, label: str = "", scopes: Iterable[str] = keys.SCOPES, expires_at: datetime | None = None
) -> tuple[ApiKey, str]:
    """The key and its secret, which nobody can ever show again; raises MaxKeysReached, exact under racing."""
    secret = keys.mint()
    with transaction.atomic():
        account = locked(account.pk)
        if account.status == Account.Status.CLOSED:
            raise AccountClosed
        if account.keys.in_use(timezone.now()).count() >= settings.MAX_API_KEYS_PER_ACCOUNT:
            raise MaxKeysReached(settings.MAX_API_KEYS_PER_ACCOUNT)
        key = account.keys.create(
            prefix=keys.prefix(secret),
            digest=keys.digest(secret),
            label=label,
            scopes=known(scopes),
            expires_at=expires_at,
        )
    return key, secret


def list_keys(account: Account, *, limit: int, after: Position | None) -> tuple[list[ApiKey], Position | None]:
    """One page, newest first and revoked ones too, and where the next begins (None at the end)."""
    found = account.keys.order_by("-created_at", "-id")
    if after:
        older = Q(created_at__lt=after.created_at) | Q(created_at=after.created_at, id__lt=after.id)
        found = found.filter(older)
    shown = list(found[: limit + 1])
    if len(shown) <= limit:
        return shown, None
    last = shown[limit - 1]
    return shown[:limit], Position(last.created_at, last.pk)


def revoke_key(key: ApiKey) -> ApiKey:
    """Once and for all; a key that is revoked already keeps its time."""
    with transaction.atomic(durable=True):
        key = ApiKey.objects.select_for_update().get(pk=key.pk)
        if key.revoked_at is None:
            bury_around_commit([key.digest])
            key.revoked_at = timezone.now()
            key.save(update_fields=["revoked_at"])
    return key


def change_scopes(key: ApiKey, scopes: Iterable[str]) -> ApiKey:
    with transaction.atomic(durable=True):
        key = ApiKey.objects.select_for_update().get(pk=key.pk)
        bury_around_commit([key.digest])
        key.scopes = known(scopes)
        key.save(update_fields=["scopes"])
    return key


def note_usage(accounts: Sequence[Account]) -> None:
    """Sets `usage_this_month` on each, with one query for all: asked of the room that ACCOUNT_USAGE names."""
    usage_of: Callable[[list[UUID]], dict[UUID, dict[str, int]]] = import_string(settings.ACCOUNT_USAGE)
    usage = usage_of([account.id for account in accounts])
    for account in accounts:
        account.usage_this_month = usage[account.id]


def locked(account_id: UUID) -> Account:
    """Held until the commit; rows that point to the account can still be written meanwhile."""
    return Account.objects.select_for_update(no_key=True).get(pk=account_id)


def known(scopes: Iterable[str]) -> list[str]:
    """Each once, in their usual order."""
    scopes = list(scopes)
    if not set(scopes) <= set(keys.SCOPES):
        raise ValidationFailed.at("scopes", f"Must be of {', '.join(keys.SCOPES)}.")
    return [scope for scope in keys.SCOPES if scope in scopes]


def bury_around_commit(digests: Iterable[str]) -> None:
    """Now, or RedisDown; and again after the commit, as well as can be."""
    digests = list(digests)
    admission.bury(digests)

    def once_more() -> None:
        try:
            admission.bury(digests)
        except RedisDown:
            logger.warning("tombstones of %d keys could not be renewed", len(digests))

    transaction.on_commit(once_more)
