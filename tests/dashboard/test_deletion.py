"""An account's deletion: suspended at once, undone until it is due, and then carried to its end whatever breaks."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
import redis as redis_py
from django.conf import settings
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts import closing, services
from accounts.errors import AccountClosed, DeletionBegun, DeletionScheduled
from accounts.models import Account, Deletion
from agents_app.models import Agent
from checkpoints import erasing
from checkpoints.models import Checkpoint, Erasure, Workflow
from snapstate_project.closing import close_due_accounts
from snapstate_project.common import redis
from snapstate_project.common.errors import RedisDown
from tests.dashboard.outage import NOWHERE
from webhooks.models import Endpoint

PAGE = "/admin/accounts/account"


@pytest.fixture
def store() -> Iterator[redis_py.Redis]:
    with redis_py.Redis.from_url(settings.REDIS_URL) as client:
        yield client


def later(days: float = 8) -> datetime:
    return timezone.now() + timedelta(days=days)


def left(account: Account) -> tuple[int, ...]:
    """Workflows, checkpoints, agents, webhooks and keys that are still there."""
    return (
        Workflow.objects.filter(account=account, head_step__isnull=False).count(),
        Checkpoint.objects.filter(workflow__account=account).count(),
        Agent.objects.filter(account=account).count(),
        Endpoint.objects.of(account.pk).count(),
        account.keys.in_use(timezone.now()).count(),
    )


def closes(account: Account) -> bool:
    """Whether a pass that begins when it is due, and may find others' deletions due too, comes to its end with it."""
    close_due_accounts(now=later())
    return not Deletion.objects.open().filter(account=account).exists()


def state(account: Account) -> tuple[str, str]:
    account.refresh_from_db()
    return account.status, account.status_reason


def test_from_the_page_it_suspends_and_says_when(admin_client: Client, account: Account, api: httpx.Client):
    form = {"confirmed": "yes", "reason": "asked by mail", "days": "3"}
    assert admin_client.post(f"{PAGE}/{account.pk}/schedule_deletion/", form).status_code == 302
    assert state(account) == ("suspended", "To be deleted: asked by mail")
    assert api.get("/workflows").status_code == 403
    page = admin_client.get(f"{PAGE}/{account.pk}/change/").content.decode()
    assert f"due {later(3):%Y-%m-%d}" in page
    assert "reactivate/" not in page
    assert admin_client.post(f"{PAGE}/{account.pk}/undo_deletion/", {"confirmed": "yes"}).status_code == 302
    assert state(account) == ("active", "")
    assert api.get("/workflows").status_code == 200


def test_while_it_is_scheduled_nobody_else_sets_the_status(account: Account, operator_api: httpx.Client):
    closing.schedule_deletion(account, reason="x")
    assert operator_api.patch(f"/admin/accounts/{account.pk}", json={"status": "active"}).status_code == 409
    with pytest.raises(DeletionScheduled):
        services.reactivate_account(account)
    with pytest.raises(DeletionScheduled):
        closing.schedule_deletion(account, reason="again")
    services.release_from_hold(account)
    assert state(account)[0] == "suspended"


def test_who_was_suspended_before_stays_so_when_it_is_undone(account: Account):
    services.suspend_account(account, reason="spam")
    closing.schedule_deletion(account, reason="x")
    closing.undo_deletion(account)
    assert state(account)[0] == "suspended"


def test_before_its_time_nothing_is_erased(account: Account, worked: None):
    closing.schedule_deletion(account, reason="x", days=7)
    close_due_accounts(now=later(6.9))
    assert left(account) == (2, 4, 1, 1, 1)


def test_at_its_time_everything_goes_and_the_account_is_closed(account: Account, worked: None, store: Any):
    deletion = closing.schedule_deletion(account, reason="x")
    assert closes(account)
    assert left(account) == (0, 0, 0, 0, 0)
    assert state(account) == ("closed", "Deleted: x")
    assert [key for key in store.scan_iter(f"wf:*{account.pk.hex}*") if not key.startswith(b"gone:")] == []
    deletion.refresh_from_db()
    assert deletion.finished_at is not None
    assert close_due_accounts(now=later()) == 0
    with pytest.raises(DeletionBegun):
        closing.undo_deletion(account)
    with pytest.raises(AccountClosed):
        closing.schedule_deletion(account, reason="again")


def test_an_account_without_anything_closes_too(account: Account):
    closing.schedule_deletion(account, reason="x")
    assert closes(account)
    assert state(account)[0] == "closed"


def test_while_redis_is_down_it_waits_and_goes_on_later(
    account: Account, worked: None, monkeypatch: pytest.MonkeyPatch
):
    closing.schedule_deletion(account, reason="x")
    with monkeypatch.context() as outage:
        outage.setattr(redis, "client", lambda: NOWHERE)
        with pytest.raises(RedisDown):
            close_due_accounts(now=later())
    assert state(account)[0] != "closed"
    assert closes(account)
    assert left(account) == (0, 0, 0, 0, 0)


def test_a_crash_between_a_promise_and_its_keeping_is_made_good(account: Account, worked: None):
    """The row is blanked, and the process dies before Redis and the history have heard of it."""
    closing.schedule_deletion(account, reason="x")
    with transaction.atomic():
        workflow = Workflow.objects.select_for_update().filter(account=account).latest("pk")
        erasing.erase_row(workflow, workflow.generation + 1)
    assert closes(account)
    erasing.finish_erasures()
    assert left(account) == (0, 0, 0, 0, 0)
    assert not Erasure.objects.filter(account_id=account.pk, objects_erased_at=None).exists()


def test_what_intake_has_not_taken_yet_is_waited_for(account: Account, api: httpx.Client, intake: Callable[[], None]):
    """Saved before the suspension, and still in Redis alone when the deletion is due."""
    api.post("/checkpoints", json={"workflow_id": "late", "step": 1, "state": {}}).raise_for_status()
    deletion = closing.schedule_deletion(account, reason="x", days=1)
    early = timezone.now() - timedelta(days=2)
    Deletion.objects.filter(pk=deletion.pk).update(asked_at=timezone.now(), due_at=early)
    close_due_accounts()
    assert Deletion.objects.open().filter(account=account).exists()
    assert state(account)[0] == "closed"
    intake()
    assert closes(account)
    assert left(account)[:2] == (0, 0)


def test_two_passes_at_once_do_no_harm(account: Account, worked: None):
    deletion = closing.schedule_deletion(account, reason="x")
    assert closing.begin_deletion(deletion, now=later())
    assert closing.begin_deletion(deletion, now=later())
    assert closes(account)
    assert left(account) == (0, 0, 0, 0, 0)


def test_one_that_is_undone_in_the_meantime_is_left_alone(account: Account, worked: None):
    deletion = closing.schedule_deletion(account, reason="x")
    closing.undo_deletion(account)
    assert not closing.begin_deletion(deletion, now=later())
    assert left(account) == (2, 4, 1, 1, 1)
