"""Many clients that save in the same moment, each over a connection of its own that stands already."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx

from billing.models import UsageRecord
from checkpoints.models import Checkpoint

type Save = tuple[dict[str, Any], dict[str, str]]
"""Body and headers."""


def race(api: httpx.Client, count: int, save: Callable[[int], Save]) -> list[httpx.Response]:
    """All saves at once; `save(number)` says what each of them sends."""
    return asyncio.run(_race(api, [save(number) for number in range(count)]))


async def _race(api: httpx.Client, saves: list[Save]) -> list[httpx.Response]:
    limits = httpx.Limits(max_connections=len(saves), max_keepalive_connections=len(saves))
    async with httpx.AsyncClient(
        base_url=api.base_url, headers=api.headers, timeout=60, limits=limits, trust_env=False, verify=False
    ) as client:
        await asyncio.gather(*[client.get("/usage") for _ in saves])
        return await asyncio.gather(*[client.post("/checkpoints", json=body, headers=more) for body, more in saves])


def statuses(answers: list[httpx.Response]) -> dict[int, int]:
    return dict(Counter(answer.status_code for answer in answers))


def winner(answers: list[httpx.Response]) -> httpx.Response:
    """The only one that was stored; all others were refused, and told of it."""
    (won,) = [answer for answer in answers if answer.status_code == 201]
    lost = [answer for answer in answers if answer.status_code == 409]
    assert len(lost) == len(answers) - 1, statuses(answers)
    assert {json.dumps(answer.json()["existing"]) for answer in lost} == {
        json.dumps({"checkpoint_id": won.json()["checkpoint_id"], "etag": won.headers["ETag"]})
    }
    return won


def writes(account_id: UUID) -> int:
    """What the account is to pay for."""
    return sum(record.checkpoint_writes for record in UsageRecord.objects.filter(account_id=account_id))


def rows(account_id: UUID, step: int) -> int:
    """How many rows of history Postgres has of a step, in all workflows of the account."""
    return Checkpoint.objects.filter(workflow__account_id=account_id, step=step).count()
