"""An account that is to be deleted, and what else goes on meanwhile: Stripe, another pass, another account's fault."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from accounts import closing, services
from accounts.models import Account, Deletion
from snapstate_project.closing import close_due_accounts
from webhooks.models import Endpoint


def state(account: Account) -> tuple[str, str, bool]:
    account.refresh_from_db()
    return account.status, account.status_reason, account.held_for_payment


def test_undone_it_is_unpaid_as_before_until_it_pays(account: Account):
    services.hold_for_payment(account)
    closing.schedule_deletion(account, reason="x")
    closing.undo_deletion(account)
    assert state(account) == ("suspended", "", True)
    services.release_from_hold(account)
    assert state(account) == ("active", "", False)


def test_what_stripe_says_meanwhile_is_felt_when_it_is_undone(make_account: Callable[..., Account]):
    paid, unpaid = make_account(), make_account()
    services.hold_for_payment(paid)
    for account in (paid, unpaid):
        closing.schedule_deletion(account, reason="x")
    services.release_from_hold(paid)
    services.hold_for_payment(unpaid)
    assert (state(paid)[0], state(unpaid)[0]) == ("suspended", "suspended")
    for account in (paid, unpaid):
        closing.undo_deletion(account)
    assert (state(paid), state(unpaid)) == (("active", "", False), ("suspended", "", True))


def test_an_operators_suspension_comes_back_with_its_reason_and_stripe_never_undoes_it(account: Account):
    services.suspend_account(account, reason="spam")
    closing.schedule_deletion(account, reason="x")
    services.hold_for_payment(account)
    services.release_from_hold(account)
    closing.undo_deletion(account)
    assert state(account) == ("suspended", "spam", False)


def test_who_is_unpaid_and_leaving_is_not_offered_a_suspension(admin_client: Client, account: Account):
    services.hold_for_payment(account)
    closing.schedule_deletion(account, reason="x")
    page = f"/admin/accounts/account/{account.pk}"
    assert "/suspend/" not in admin_client.get(f"{page}/change/").content.decode()
    answer = admin_client.post(f"{page}/suspend/", {"confirmed": "yes", "reason": "y"})
    assert (answer.status_code, answer["Location"]) == (302, f"{page}/change/")
    account.refresh_from_db()
    assert account.status_reason == "To be deleted: x"


def test_what_fails_of_one_account_holds_back_no_other(make_account: Callable[..., Account], sql: Any):
    first, second = make_account(), make_account()
    for account in (first, second):
        closing.schedule_deletion(account, reason="x")
    sql.execute(
        "CREATE FUNCTION refuse_it() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'not this'; END $$ LANGUAGE plpgsql"
    )
    sql.execute(
        "CREATE TRIGGER refused BEFORE UPDATE ON accounts_account FOR EACH ROW"
        f" WHEN (NEW.id = '{first.pk}' AND NEW.status = 'closed') EXECUTE FUNCTION refuse_it()"
    )
    try:
        with pytest.raises(Exception, match="not this"):
            close_due_accounts(now=timezone.now() + timedelta(days=8))
    finally:
        sql.execute("DROP FUNCTION refuse_it CASCADE")
    assert (state(first)[0], state(second)[0]) == ("suspended", "closed")


def test_passes_at_once_take_one_account_to_its_end(account: Account, worked: None):
    for number in range(20):
        Endpoint.objects.create(
            account=account, url=f"https://example.com/{number}", events=[], secret="x", created_at=timezone.now()
        )
    closing.schedule_deletion(account, reason="x")

    def once(_: int) -> None:
        try:
            close_due_accounts(now=timezone.now() + timedelta(days=8))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(once, range(3)))
    close_due_accounts(now=timezone.now() + timedelta(days=8))
    assert not Deletion.objects.open().filter(account=account).exists()
