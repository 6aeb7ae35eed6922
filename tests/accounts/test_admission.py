"""Who is let in: what is cached, for how long, and what makes everybody ask Postgres again."""

import asyncio
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.utils import timezone

from accounts import keys, services
from accounts.admission import admit, bury, gates_of_this_loop
from accounts.callers import Caller, Verdict
from accounts.errors import AccountInactive
from accounts.models import Account, ApiKey
from snapstate_project.common.errors import PostgresDown, Unauthorized
from snapstate_project.common.threads import in_thread
from tests.accounts.calling import call, calls, granted, keys_in_redis, outcome, retry_after


def record_of(redis: Any, secret: str) -> dict[bytes, bytes]:
    record: dict[bytes, bytes] = redis.hgetall(keys_in_redis(secret)[0])
    return record


def set_behind_our_back(sql: "psycopg.Connection[Any]", secret: str, assignment: str) -> None:
    """A change that no service made: only who reads Postgres sees it."""
    sql.execute(f"UPDATE accounts_apikey SET {assignment} WHERE digest = %s", [keys.digest(secret)])


def reads_of_keys(statements: list[str]) -> list[str]:
    return [statement for statement in statements if '"digest" IN' in statement]


def test_a_key_names_its_account_itself_and_its_scopes(account: Account):
    key, secret = services.issue_key(account, scopes=["webhooks:manage", "checkpoints:read"])
    caller, verdict = asyncio.run(admit(secret))
    assert caller == Caller(account.id, key.id, frozenset({"checkpoints:read", "webhooks:manage"}), 1_000_000)
    assert verdict == Verdict(1_000_000, 999_999, 60)


@pytest.mark.parametrize(
    "text", ["", "snp_", "snp_" + "g" * 32, "snp_" + "A" * 32, "snp_" + "0" * 33, "é", "\ud83d", "0"]
)
def test_what_is_no_key_at_all_is_refused_without_asking(text: str):
    assert isinstance(call(text), Unauthorized)


def test_an_unknown_key_is_refused(redis: Any):
    secret = keys.mint()
    assert isinstance(call(secret), Unauthorized)
    assert redis.exists(*keys_in_redis(secret)) == 0


def test_strangers_are_looked_up_together_and_remembered(statements: list[str]):
    async def knock() -> list[int]:
        strangers, reads = [keys.mint() for _ in range(200)], []
        for _ in range(2):
            await asyncio.gather(*[outcome(secret) for secret in strangers])
            reads.append(len(reads_of_keys(statements)))
        return reads

    first, both = asyncio.run(knock())
    assert 1 <= first == both <= 10


def test_a_key_works_in_the_moment_it_is_issued(account: Account):
    async def try_and_issue() -> list[Any]:
        await outcome(keys.mint())
        _, secret = await in_thread(services.issue_key, account)
        return [await outcome(secret)]

    assert granted(asyncio.run(try_and_issue())) == 1


def test_a_cached_key_needs_no_postgres(key: str, statements: list[str], redis: Any):
    call(key)
    statements.clear()
    assert granted(calls(key, 20)) == 20
    assert reads_of_keys(statements) == []
    assert 290_000 < redis.pttl(keys_in_redis(key)[0]) <= 86_400_000


def test_a_record_of_another_run_of_redis_is_not_believed(key: str, redis: Any, sql: Any):
    call(key)
    set_behind_our_back(sql, key, "revoked_at = now()")
    assert isinstance(call(key), Verdict)
    redis.hset(keys_in_redis(key)[0], "run", "0" * 40)
    assert isinstance(call(key), Unauthorized)


def test_a_tombstone_makes_everyone_read_postgres_and_cache_nothing(key: str, redis: Any, sql: Any):
    call(key)
    bury([keys.digest(key)])
    assert granted(calls(key, 3)) == 3
    assert record_of(redis, key) == {}
    set_behind_our_back(sql, key, "revoked_at = now()")
    assert isinstance(call(key), Unauthorized)
    assert 50_000 < redis.pttl(keys_in_redis(key)[2]) <= 60_000


def test_a_tombstone_forgives_no_calls(limited: Callable[[int], str]):
    secret = limited(3)
    calls(secret, 2)
    bury([keys.digest(secret)])
    found = calls(secret, 2)
    assert granted(found) == 1
    assert retry_after(found[1]) == 60


def test_nothing_is_lent_under_a_tombstone(limited: Callable[[int], str]):
    secret = limited(1600)

    async def lent() -> int:
        for _ in range(20):
            await admit(secret)
        return next(iter(gates_of_this_loop().by_digest.values())).lent

    bury([keys.digest(secret)])
    assert asyncio.run(lent()) == 0


def test_a_key_expires_though_it_is_cached(account: Account):
    _, secret = services.issue_key(account, expires_at=timezone.now() + timedelta(seconds=1))

    async def use_until_refused() -> tuple[int, float]:
        used, began = 0, time.monotonic()
        while isinstance(await outcome(secret), Verdict):
            used += 1
            await asyncio.sleep(0.005)
        return used, time.monotonic() - began

    used, seconds = asyncio.run(use_until_refused())
    assert used > 10
    assert seconds <= 1.05


@pytest.mark.parametrize("status", [Account.Status.SUSPENDED, Account.Status.CLOSED])
def test_a_key_of_an_inactive_account_is_known_but_refused(key: str, account: Account, status: Account.Status):
    call(key)
    services.update_account(account, status=status)
    assert isinstance(call(key), AccountInactive)
    services.reactivate_account(account)
    assert isinstance(call(key), Verdict)


def test_while_postgres_cannot_say_a_new_key_gets_503_and_a_known_one_goes_on(
    key: str, stranger: str, sql: "psycopg.Connection[Any]", monkeypatch: pytest.MonkeyPatch
):
    call(key)
    monkeypatch.setattr(settings, "POSTGRES_TIMEOUT_SECONDS", 0.2)
    with sql.transaction():
        sql.execute("LOCK TABLE accounts_apikey")
        assert isinstance(call(stranger), PostgresDown)
        assert isinstance(call(key), Verdict)
    assert isinstance(call(stranger), Verdict)


def test_requests_at_once_make_one_trip(key: str, trips: Callable[[], int]):
    async def burst() -> int:
        await admit(key)
        before = trips()
        await asyncio.gather(*[admit(key) for _ in range(50)])
        return trips() - before

    assert asyncio.run(burst()) <= 2


def test_an_allotment_needs_no_trip(limited: Callable[[int], str], trips: Callable[[], int]):
    secret = limited(16_000_000)

    async def many() -> int:
        before = trips()
        for _ in range(2000):
            await admit(secret)
        return trips() - before

    assert asyncio.run(many()) < 40


def test_a_request_given_up_takes_nobody_with_it(key: str):
    async def one_gives_up() -> list[Any]:
        waiting = [asyncio.ensure_future(outcome(key)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        return [await each for each in waiting[1:]]

    assert granted(asyncio.run(one_gives_up())) == 2


def test_the_keys_a_process_remembers_are_bounded(monkeypatch: pytest.MonkeyPatch, key: str):
    monkeypatch.setattr("accounts.admission.MOST_GATES", 3)

    async def many() -> int:
        for _ in range(10):
            await asyncio.gather(outcome(keys.mint()), outcome(key))
        return len(gates_of_this_loop().by_digest)

    assert asyncio.run(many()) <= 3


def test_last_use_is_noted_in_the_background_once_a_minute(account: Account, key: str):
    earlier = timezone.now() - timedelta(seconds=50)
    ApiKey.objects.filter(digest=keys.digest(key)).update(last_used_at=earlier)
    use_and_wait(key)
    assert ApiKey.objects.get(digest=keys.digest(key)).last_used_at == earlier
    ApiKey.objects.filter(digest=keys.digest(key)).update(last_used_at=earlier - timedelta(seconds=20))
    use_and_wait(key)
    last_used_at = ApiKey.objects.get(digest=keys.digest(key)).last_used_at
    assert last_used_at is not None
    assert last_used_at > earlier


def use_and_wait(secret: str) -> None:
    async def use() -> None:
        await admit(secret)
        writer = gates_of_this_loop().lookup.writer
        assert writer is not None
        await writer

    asyncio.run(use())


def test_ids_do_not_leak_between_keys(make_account: Callable[..., Any]):
    accounts = [make_account() for _ in range(5)]
    secrets = {account.id: services.issue_key(account)[1] for account in accounts}

    async def who() -> dict[uuid.UUID, uuid.UUID]:
        answers = await asyncio.gather(*[admit(secret) for secret in secrets.values()])
        return dict(zip(secrets, [caller.account_id for caller, _ in answers], strict=True))

    assert all(expected == got for expected, got in asyncio.run(who()).items())
