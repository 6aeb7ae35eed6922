"""What is taken from a key is gone in every process within a second, and not taken at all while Redis is down."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.test import Client

from accounts import services
from accounts.models import Account, ApiKey
from snapstate_project.common import redis as redis_link
from snapstate_project.common.errors import RedisDown
from tests.accounts.calling import call, calls, granted, retry_after

type Change = Callable[[ApiKey], object]


def by_the_admin_page(key: ApiKey) -> None:
    post(f"/admin/accounts/apikey/{key.pk}/revoke/", {})


def by_a_bulk_action(key: ApiKey) -> None:
    post("/admin/accounts/apikey/", {"action": "revoke_selected", "_selected_action": str(key.pk)})


def by_suspending_on_the_admin_page(key: ApiKey) -> None:
    post(f"/admin/accounts/account/{key.account_id}/suspend/", {"reason": "x"})


def by_suspending_in_bulk(key: ApiKey) -> None:
    post(
        "/admin/accounts/account/",
        {"action": "suspend_selected", "_selected_action": str(key.account_id), "reason": "x"},
    )


def post(path: str, fields: dict[str, str]) -> None:
    client = Client(headers={"host": "localhost"})
    client.force_login(superuser())
    assert client.post(path, {"confirmed": "yes", **fields}).status_code == 302


def superuser() -> User:
    return User.objects.filter(is_superuser=True).first() or User.objects.create_superuser("revoker")


def by_closing(key: ApiKey) -> None:
    services.update_account(key.account, status=Account.Status.CLOSED)


def by_taking_a_scope(key: ApiKey) -> None:
    services.change_scopes(key, ["checkpoints:read"])


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (services.revoke_key, "UNAUTHORIZED"),
        (by_the_admin_page, "UNAUTHORIZED"),
        (by_a_bulk_action, "UNAUTHORIZED"),
        (lambda key: services.suspend_account(key.account), "FORBIDDEN"),
        (by_suspending_on_the_admin_page, "FORBIDDEN"),
        (by_suspending_in_bulk, "FORBIDDEN"),
        (by_closing, "FORBIDDEN"),
        (by_taking_a_scope, "SCOPE_GONE"),
        (lambda key: services.set_rate_limit(key.account, 1), "RATE_LIMITED"),
    ],
)
def test_another_process_feels_it_within_a_second(account: Account, change: Change, refusal: str):
    key, secret = services.issue_key(account)
    with calling(secret) as process:
        time.sleep(0.3)  # it shall hold an allotment
        change(key)
        changed = time.monotonic()
        assert process.stdout is not None
        assert process.stdout.readline().strip() == refusal
        assert time.monotonic() - changed < 1


@contextmanager
def calling(secret: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.accounts.caller", secret]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "in\n"
            yield process
        finally:
            process.kill()


def test_the_admin_api_revokes_within_a_second(operator_api: Any, api: Any, account: Account):
    assert api.get("/usage").status_code == 200
    key = account.keys.get()
    assert operator_api.delete(f"/admin/accounts/{account.id}/keys/{key.id}").status_code == 204
    revoked = time.monotonic()
    while api.get("/usage").status_code != 401:
        assert time.monotonic() - revoked < 1


def test_a_scope_given_and_an_account_reactivated_work_at_once(account: Account):
    key, secret = services.issue_key(account, scopes=[])
    call(secret)
    services.suspend_account(account)
    services.change_scopes(key, ["agents:manage"])
    services.reactivate_account(account)
    assert granted(calls(secret, 3)) == 3


def test_a_rate_limit_is_raised_at_once(limited: Callable[[int], str]):
    secret = limited(1)
    assert retry_after(calls(secret, 2)[1])
    services.set_rate_limit(ApiKey.objects.get(prefix=secret[:12]).account, 3)
    assert granted(calls(secret, 3)) == 2


@pytest.fixture
def redis_down(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    redis_link.client.cache_clear()
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")
    yield
    redis_link.client.cache_clear()


@pytest.mark.usefixtures("redis_down")
@pytest.mark.parametrize(
    "change",
    [
        services.revoke_key,
        by_taking_a_scope,
        by_closing,
        lambda key: services.suspend_account(key.account),
        lambda key: services.set_rate_limit(key.account, 1),
        lambda key: services.update_account(key.account, plan="pro", status="suspended"),
    ],
)
def test_while_redis_is_down_nothing_changes(account: Account, change: Change):
    key, _ = services.issue_key(account)
    with pytest.raises(RedisDown):
        change(key)
    unchanged = ApiKey.objects.select_related("account").get(pk=key.pk)
    assert (unchanged.revoked_at, unchanged.scopes) == (None, key.scopes)
    assert (unchanged.account.status, unchanged.account.plan) == ("active", "free")
    assert unchanged.account.rate_limit_max == account.rate_limit_max


@pytest.mark.usefixtures("redis_down")
def test_while_redis_is_down_the_admin_says_so_and_the_rest_goes_on(account: Account, admin_client: Client):
    key, _ = services.issue_key(account)
    answer = admin_client.post(f"/admin/accounts/apikey/{key.pk}/revoke/", {"confirmed": "yes"}, follow=True)
    assert "Redis cannot be reached" in answer.content.decode()
    assert ApiKey.objects.get(pk=key.pk).revoked_at is None
    assert services.update_account(account, plan="pro").plan == "pro"


@pytest.mark.parametrize(
    "delete",
    [
        lambda account: account.delete(),
        lambda account: account.keys.get().delete(),
        lambda account: account.keys.all().delete(),
        lambda account: Account.objects.filter(pk=account.pk).delete(),
        lambda _: ApiKey.objects.all().delete(),
    ],
)
def test_rows_are_never_deleted(account: Account, delete: Callable[[Account], object]):
    services.issue_key(account)
    with pytest.raises(models.ProtectedError, match="never deleted"):
        delete(account)
    assert account.keys.count() == 1
