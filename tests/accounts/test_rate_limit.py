"""The sliding window: exact at its edge, over all processes, and honest about when to come back."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.conf import settings

from accounts import services
from accounts.callers import Verdict
from accounts.models import Account
from snapstate_project.common.threads import in_thread
from tests.accounts.calling import (
    Outcome,
    call,
    calls,
    granted,
    inactive,
    keys_in_redis,
    let_pass,
    outcome,
    remaining,
    retry_after,
    side_by_side,
)

type Limited = Callable[[int], str]


@pytest.mark.usefixtures("exact")
def test_the_limit_is_granted_and_not_one_call_more(limited: Limited):
    found = calls(limited(20), 21)
    assert [remaining(outcome) for outcome in found[:20]] == list(range(19, -1, -1))
    assert retry_after(found[20]) == 60


def test_one_caller_gets_the_whole_limit_with_allotments_too(limited: Limited):
    found = calls(limited(100), 103)
    assert [remaining(outcome) for outcome in found[:100]] == list(range(99, -1, -1))
    assert granted(found) == 100


def test_calls_at_once_share_one_count(limited: Limited):
    assert granted(calls(limited(50), 60, at_once=60)) == 50


def test_refused_calls_are_not_counted(limited: Limited, redis: Any):
    secret = limited(5)
    calls(secret, 6)
    window = redis.hgetall(keys_in_redis(secret)[1])
    calls(secret, 25, at_once=5)
    assert redis.hgetall(keys_in_redis(secret)[1]) == window
    let_pass(redis, secret, 60_000)
    assert granted(calls(secret, 6)) == 5


@pytest.mark.parametrize("local", [True, False])
def test_racing_processes_never_exceed_the_limit(limited: Limited, local: bool, request: Any):
    if not local:
        request.getfixturevalue("exact")
    secret = limited(200)
    found = side_by_side([partial(calls, secret, 80, at_once=at_once) for at_once in (1, 1, 8, 8, 40)])
    total = sum(granted(outcomes) for outcomes in found)
    assert total == 200 if not local else 175 <= total <= 200


def test_what_is_lent_and_not_used_stays_counted(limited: Limited):
    secret = limited(160)
    lent = calls(secret, 5)  # the last of these trips brings an allotment, and its process ends
    assert remaining(call(secret)) < remaining(lent[-1]) - 1


def test_no_window_holds_more_than_the_limit(limited: Limited, redis: Any):
    """Calls at second 0 and 50: at 61 only the first are out, at 111 all."""
    secret = limited(10)
    assert granted(calls(secret, 6)) == 6
    let_pass(redis, secret, 50_000)
    assert granted(calls(secret, 6)) == 4
    let_pass(redis, secret, 11_000)
    assert granted(calls(secret, 8)) == 6
    let_pass(redis, secret, 50_000)
    assert granted(calls(secret, 8)) == 4


@pytest.mark.usefixtures("exact")
def test_retry_after_is_when_the_next_call_is_granted(limited: Limited, redis: Any):
    secret = limited(10)
    calls(secret, 10)
    let_pass(redis, secret, 47_000)
    seconds = retry_after(call(secret))
    assert 12 <= seconds <= 13
    let_pass(redis, secret, (seconds - 2) * 1000)
    assert retry_after(call(secret)) in (1, 2)
    let_pass(redis, secret, 2000)
    assert isinstance(call(secret), Verdict)


def test_retry_after_is_true_after_the_limit_was_lowered(make_account: Callable[..., Account], redis: Any):
    account = make_account(rate_limit_max=10)
    secret = services.issue_key(account)[1]
    calls(secret, 4)
    let_pass(redis, secret, 30_000)
    calls(secret, 4)
    services.set_rate_limit(account, 3)
    assert retry_after(call(secret)) == 60
    services.set_rate_limit(account, 7)
    assert 29 <= retry_after(call(secret)) <= 30


@pytest.mark.usefixtures("exact")
def test_retry_after_holds_in_real_time(limited: Limited, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(settings, "RATE_LIMIT_WINDOW_MS", 1000)
    secret = limited(3)
    refused = calls(secret, 4)[3]
    time.sleep(retry_after(refused))  # the server's clock counts: here time has to pass
    assert granted(calls(secret, 4)) == 3


def test_reset_is_when_calls_begin_to_come_back(limited: Limited, redis: Any):
    secret = limited(100)
    call(secret)
    let_pass(redis, secret, 20_000)
    verdict = call(secret)
    assert isinstance(verdict, Verdict)
    assert 39 <= verdict.reset_seconds <= 40


def test_a_clock_put_back_locks_nobody_out(limited: Limited, redis: Any):
    secret = limited(2)
    calls(secret, 3)
    let_pass(redis, secret, -3_600_000)
    assert granted(calls(secret, 3)) == 2


def test_the_window_in_redis_stays_small(limited: Limited, redis: Any):
    secret = limited(1000)
    for _ in range(80):
        call(secret)
        let_pass(redis, secret, 1000)
    window = keys_in_redis(secret)[1]
    assert redis.hlen(window) < 70
    assert redis.object("encoding", window) == b"listpack"
    assert redis.pttl(window) > 60_000 or redis.pttl(window) == -1


def test_an_inactive_account_hears_its_limit_and_nothing_is_counted(make_account: Callable[..., Account], redis: Any):
    account = make_account(rate_limit_max=100)
    secret = services.issue_key(account)[1]
    calls(secret, 10)
    services.suspend_account(account)
    left = [inactive(refused)["RateLimit-Remaining"] for refused in calls(secret, 12, at_once=3)]
    assert (len(left), len(set(left)), int(left[0]) <= 90) == (12, 1, True)
    headers = inactive(call(secret))
    assert headers["RateLimit-Limit"] == "100"
    assert 50 <= int(headers["RateLimit-Reset"]) <= 61
    redis.delete(keys_in_redis(secret)[1])
    assert inactive(call(secret)) == {"RateLimit-Limit": "100", "RateLimit-Remaining": "100", "RateLimit-Reset": "1"}
    assert redis.exists(keys_in_redis(secret)[1]) == 0


def test_an_allotment_that_an_inactive_account_still_has_leaves_no_window_for_ever(
    make_account: Callable[..., Account], redis: Any
):
    account = make_account(rate_limit_max=1000)
    secret = services.issue_key(account)[1]

    async def call_until_refused() -> Outcome:
        for _ in range(8):
            await outcome(secret)
        redis.delete(keys_in_redis(secret)[1])  # its time is over
        await in_thread(services.suspend_account, account)
        while isinstance(found := await outcome(secret), Verdict):
            pass
        return found

    assert inactive(asyncio.run(call_until_refused()))["RateLimit-Remaining"] == "1000"
    assert redis.exists(keys_in_redis(secret)[1]) == 0


@pytest.mark.parametrize("refuse", ["scopes", "suspended"])
def test_whoever_is_forbidden_something_is_told_the_limit(account: Account, connect: Any, refuse: str):
    secret = services.issue_key(account, scopes=["checkpoints:read"])[1]
    if refuse == "suspended":
        services.suspend_account(account)
    answer = connect(secret).get("/agents")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN")
    assert int(answer.headers["RateLimit-Limit"]) == account.rate_limit
    assert [answer.headers[f"RateLimit-{name}"].isdigit() for name in ("Remaining", "Reset")] == [True, True]
