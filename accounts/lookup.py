"""What Postgres says of a key, asked by one query at a time: however many strangers knock, Postgres feels one process.

A digest that Postgres does not know is remembered for a few seconds. That cannot lock out a new key: nobody has sent
a secret before it was minted.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextvars import Context
from time import monotonic
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.models import ApiKey
from snapstate_project.common.errors import ServiceUnavailable
from snapstate_project.common.threads import in_thread

logger = logging.getLogger(__name__)

STRANGER_SECONDS = 3.0
MOST_STRANGERS = 10_000
KEYS_A_QUERY = 500
NEVER = 0

type Record = tuple[str, str, str, str, int, int, int]
"""account_id, key_id, scopes, status, limit, window_ms, expires_at_ms: as admit.lua takes it."""


def read_records(digests: Iterable[str]) -> dict[str, Record]:
    """The records of those keys that exist and are not revoked."""
    keys = ApiKey.objects.filter(digest__in=list(digests), revoked_at=None).select_related("account")
    fields = keys.only("digest", "scopes", "expires_at", "account__status", "account__rate_limit_max")
    return {key.digest: record_of(key) for key in fields}


def record_of(key: ApiKey) -> Record:
    account = key.account
    expires_at_ms = int(key.expires_at.timestamp() * 1000) if key.expires_at else NEVER
    scopes = " ".join(key.scopes)
    window_ms = settings.RATE_LIMIT_WINDOW_MS
    return account.id.hex, key.id.hex, scopes, account.status, account.rate_limit, window_ms, expires_at_ms


class Lookup:
    """Of one event loop: whoever asks while a query runs is answered by the next one, together."""

    def __init__(self) -> None:
        self.asked: dict[str, asyncio.Future[Record | None]] = {}
        self.strangers: dict[str, float] = {}
        self.used: set[UUID] = set()
        self.reader: asyncio.Task[None] | None = None
        self.writer: asyncio.Task[None] | None = None

    def knows_as_stranger(self, digest: str) -> bool:
        until = self.strangers.get(digest)
        return until is not None and monotonic() < until

    async def read(self, digest: str) -> Record | None:
        """None for a key that does not exist or is revoked; raises ServiceUnavailable when Postgres cannot say."""
        answer = self.asked.get(digest)
        if answer is None:
            answer = self.asked[digest] = asyncio.get_running_loop().create_future()
        if self.reader is None:
            self.reader = asyncio.get_running_loop().create_task(self.answer_all(), context=Context())
        return await asyncio.shield(answer)

    async def answer_all(self) -> None:
        try:
            while self.asked:
                batch = dict(list(self.asked.items())[:KEYS_A_QUERY])
                for digest in batch:
                    del self.asked[digest]
                await self.answer(batch)
        finally:
            self.reader = None

    async def answer(self, batch: dict[str, asyncio.Future[Record | None]]) -> None:
        try:
            records = await in_thread(read_records, batch)
        except Exception as error:  # noqa: BLE001 (whoever waits must hear of it)
            self.fail(batch, error)
            return
        for digest, future in batch.items():
            future.set_result(records.get(digest))
            if digest not in records:
                self.remember_stranger(digest)

    def fail(self, batch: dict[str, asyncio.Future[Record | None]], error: Exception) -> None:
        """Also whoever came meanwhile: nobody waits for Postgres longer than the first."""
        later, self.asked = self.asked, {}
        for future in (*batch.values(), *later.values()):
            future.set_exception(error)

    def remember_stranger(self, digest: str) -> None:
        self.strangers.pop(digest, None)
        if len(self.strangers) >= MOST_STRANGERS:
            del self.strangers[next(iter(self.strangers))]
        self.strangers[digest] = monotonic() + STRANGER_SECONDS

    def note_use(self, key_id: UUID) -> None:
        """Written to Postgres in the background; when that fails, a later use is noted instead."""
        self.used.add(key_id)
        if self.writer is None:
            self.writer = asyncio.get_running_loop().create_task(self.write_uses(), context=Context())

    async def write_uses(self) -> None:
        try:
            while self.used:
                used, self.used = self.used, set()
                await in_thread(ApiKey.objects.note_last_used, used, timezone.now())
        except ServiceUnavailable as error:
            logger.info("last uses of keys were not noted: %s", error)
        finally:
            self.writer = None
