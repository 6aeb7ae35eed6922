"""Calls of `admit` as requests make them: each `calls` is a process of its own to admission (an event loop's worth)."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

from accounts.admission import admit, redis_keys
from accounts.callers import Verdict
from accounts.errors import AccountInactive
from snapstate_project.common.errors import ApiError, RateLimited

type Outcome = Verdict | ApiError


async def outcome(secret: str) -> Outcome:
    try:
        return (await admit(secret))[1]
    except ApiError as error:
        return error


def calls(secret: str, count: int = 1, *, at_once: int = 1) -> list[Outcome]:
    """In a loop of their own, `at_once` of them side by side."""

    async def all_of_them() -> list[Outcome]:
        found: list[Outcome] = []
        while len(found) < count:
            found += await asyncio.gather(*[outcome(secret) for _ in range(min(at_once, count - len(found)))])
        return found

    return asyncio.run(all_of_them())


def call(secret: str) -> Outcome:
    return calls(secret)[0]


def granted(outcomes: Sequence[Outcome]) -> int:
    return sum(isinstance(outcome, Verdict) for outcome in outcomes)


def remaining(outcome: Outcome) -> int:
    assert isinstance(outcome, Verdict), outcome
    return outcome.remaining


def retry_after(outcome: Outcome) -> int:
    assert isinstance(outcome, RateLimited), outcome
    return int(outcome.headers["Retry-After"])


def inactive(outcome: Outcome) -> dict[str, str]:
    """What the headers say."""
    assert isinstance(outcome, AccountInactive), outcome
    return outcome.headers


def side_by_side(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result() for future in [pool.submit(job) for job in jobs]]


def keys_in_redis(secret: str) -> tuple[str, str, str]:
    """Record, rate window, tombstone."""
    return redis_keys(sha256(secret.encode()).hexdigest())


def let_pass(redis: Any, secret: str, milliseconds: int, *, width: int = 1000) -> None:
    """As if all that was counted had been counted that much earlier."""
    window = keys_in_redis(secret)[1]
    fields = {name.decode(): value.decode() for name, value in redis.hgetall(window).items()}
    redis.delete(window)
    for name, value in fields.items():
        count, _, last = value.rpartition(":")
        earlier = f"{count}:{int(last) - milliseconds}" if count else value
        if name == "leaves_at":
            earlier = str(int(value) - milliseconds)
        redis.hset(window, str((int(last) - milliseconds) // width) if name.isdigit() else name, earlier)
