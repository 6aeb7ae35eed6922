"""A record not read from Postgres for five minutes lets in, is read again meanwhile, and shuts nobody out."""

import asyncio
import time
from typing import Any

import psycopg
import pytest
from django.conf import settings

from accounts import keys, services
from accounts.admission import admit, gates_of_this_loop
from accounts.callers import Verdict
from accounts.models import Account
from snapstate_project.common.errors import Unauthorized
from tests.accounts.calling import call, keys_in_redis, outcome

MINUTE = 60_000


@pytest.fixture
def old(key: str, redis: Any) -> str:
    """A key whose record was read six minutes ago."""
    call(key)
    make_old(redis, key)
    return key


def make_old(redis: Any, secret: str, **fields: str | int) -> None:
    read_at = int(time.time() * 1000) - 6 * MINUTE
    redis.hset(keys_in_redis(secret)[0], mapping={"read_at_ms": read_at, **fields})


def age_ms(redis: Any, secret: str) -> int:
    return int(time.time() * 1000) - int(redis.hget(keys_in_redis(secret)[0], "read_at_ms"))


def call_and_again(secret: str) -> list[Any]:
    """What a process is told, and what it is told once it has read Postgres meanwhile."""

    async def both() -> list[Any]:
        first = await outcome(secret)
        [gate] = gates_of_this_loop().by_digest.values()
        assert gate.renewing is not None
        await gate.renewing
        gate.left = 0
        return [first, await outcome(secret)]

    return asyncio.run(both())


def test_it_is_read_again_meanwhile(old: str, redis: Any):
    first, second = call_and_again(old)
    assert isinstance(first, Verdict)
    assert second.remaining == first.remaining - 1
    assert age_ms(redis, old) < MINUTE


def test_a_change_that_no_service_made_is_felt_after_that(old: str, sql: "psycopg.Connection[Any]"):
    sql.execute("UPDATE accounts_apikey SET revoked_at = now() WHERE digest = %s", [keys.digest(old)])
    first, second = call_and_again(old)
    assert isinstance(first, Verdict)
    assert isinstance(second, Unauthorized)
    assert isinstance(call(old), Unauthorized)


def test_while_postgres_is_away_it_goes_on(
    old: str, redis: Any, sql: "psycopg.Connection[Any]", monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(settings, "POSTGRES_TIMEOUT_SECONDS", 0.2)
    with sql.transaction():
        sql.execute("LOCK TABLE accounts_apikey")
        assert [type(told) for told in call_and_again(old)] == [Verdict, Verdict]
    assert age_ms(redis, old) > 5 * MINUTE
    assert redis.pttl(keys_in_redis(old)[0]) > 23 * 60 * MINUTE


@pytest.mark.parametrize("fields", [{"status": "suspended"}, {"expires_at_ms": 1}])
def test_it_shuts_nobody_out(old: str, redis: Any, fields: dict[str, Any]):
    make_old(redis, old, **fields)
    assert isinstance(call(old), Verdict)
    assert age_ms(redis, old) < MINUTE


def test_one_of_a_release_that_did_not_note_when_is_old(old: str, redis: Any):
    redis.hdel(keys_in_redis(old)[0], "read_at_ms")
    assert [type(told) for told in call_and_again(old)] == [Verdict, Verdict]


def test_a_key_that_is_revoked_is_out_however_old_its_record(old: str, account: Account):
    services.revoke_key(account.keys.get(digest=keys.digest(old)))
    assert isinstance(call(old), Unauthorized)


def test_a_young_one_is_not_read_again(key: str):
    async def renewing() -> Any:
        await admit(key)
        [gate] = gates_of_this_loop().by_digest.values()
        return gate.renewing

    assert asyncio.run(renewing()) is None
