"""Who is calling, and may they: a key's record and its rate window in one script, one trip for all who wait for it.

A process may hold a small allotment of calls, charged in advance: within it nothing is asked at all.
"""

import asyncio
import logging
import threading
from collections.abc import Iterable
from contextvars import Context
from hashlib import sha256
from math import ceil
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import UUID

from django.conf import settings

from accounts.callers import Caller, Verdict
from accounts.errors import AccountInactive
from accounts.keys import is_well_formed
from accounts.lookup import Lookup
from snapstate_project.common.errors import RateLimited, ServiceUnavailable, Unauthorized
from snapstate_project.common.redis import Script, link, run_script

logger = logging.getLogger(__name__)

LUA = Path(__file__).parent / "lua"
ADMIT = Script(LUA / "admit.lua")
BURY = Script(LUA / "bury.lua")
ALLOTMENT_SECONDS = 0.9
"""A little less than the second that admit.lua counts: a revoked key is out within a second, slow clocks included."""
NOTE_USE_SECONDS = 60.0
RENEW_EVERY_SECONDS = 5.0
MOST_GATES = 10_000
NO_CALLS = (0, 0, 0, 0, 0)
ASK, EXPIRED, INACTIVE = b"ask", b"expired", b"inactive"


async def admit(api_key: str) -> tuple[Caller, Verdict]:
    """Raises Unauthorized, AccountInactive, RateLimited, or ServiceUnavailable when Redis or Postgres cannot say."""
    gates = gates_of_this_loop()
    digest = sha256(api_key.encode("utf-8", "surrogatepass")).digest()
    gate = gates.by_digest.get(digest) or gates.open(api_key, digest)
    if gate.left and monotonic() < gate.until:
        gate.left -= 1
        return gate.caller, gate.verdict()
    return await gate.wait()


def bury(digests: Iterable[str]) -> None:
    """Makes every process read these keys from Postgres for a minute; raises RedisDown."""
    for digest in digests:
        record, _, dead = redis_keys(digest)
        run_script(BURY, [record, dead], [])


def redis_keys(digest: str) -> tuple[str, str, str]:
    """Record, rate window, tombstone: all in the slot of the digest's first half."""
    name = f"{{{digest[:16]}}}{digest[16:]}"
    return f"key:{name}", f"rate:{name}", f"dead:{name}"


class Gates:
    """The keys an event loop has to do with. Bounded: the one whose last trip is longest ago makes room."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.lookup = Lookup()
        self.by_digest: dict[bytes, Gate] = {}

    def open(self, api_key: str, digest: bytes) -> "Gate":
        if not is_well_formed(api_key) or self.lookup.knows_as_stranger(digest.hex()):
            raise Unauthorized
        if len(self.by_digest) >= MOST_GATES:
            del self.by_digest[next(iter(self.by_digest))]
        gate = self.by_digest[digest] = Gate(self, digest)
        return gate

    def move_last(self, gate: "Gate") -> None:
        self.by_digest.pop(gate.digest, None)
        self.by_digest[gate.digest] = gate

    def forget(self, gate: "Gate") -> None:
        if self.by_digest.get(gate.digest) is gate:
            del self.by_digest[gate.digest]


here = threading.local()


def gates_of_this_loop() -> Gates:
    loop = asyncio.get_running_loop()
    mine: Gates | None = getattr(here, "gates", None)
    if mine is None or mine.loop is not loop:
        mine = here.gates = Gates(loop)
    return mine


class Gate:
    """One key in one process: its caller, what is left of its allotment, and who waits for the next trip."""

    caller: Caller

    def __init__(self, gates: Gates, digest: bytes) -> None:
        self.gates = gates
        self.digest = digest
        self.keys = redis_keys(digest.hex())
        self.waiting: list[Turn] = []
        self.trips: asyncio.Task[None] | None = None
        self.renewing: asyncio.Task[None] | None = None
        self.known_by: list[bytes] = []
        self.lent = self.left = self.lent_at_ms = 0
        self.until = self.sent_at = self.reset_at = 0.0
        self.noted_at = -NOTE_USE_SECONDS
        self.renew_at = 0.0
        self.remaining = self.granted = 0

    def verdict(self, ahead: int = 0) -> Verdict:
        """`ahead`: calls of the same trip that come after this one."""
        seconds = max(1, ceil(self.reset_at - monotonic()))
        return Verdict(self.caller.limit, self.remaining + self.left + ahead, seconds)

    def wait(self) -> "Turn":
        turn: Turn = self.gates.loop.create_future()
        self.waiting.append(turn)
        if self.trips is None:
            self.trips = self.gates.loop.create_task(self.make_trips(), context=Context())
        return turn

    async def make_trips(self) -> None:
        """One after the other: who comes while one is under way goes with the next, or on what it brings."""
        try:
            while party := [turn for turn in self.waiting if not turn.done()]:
                at_once = self.left if monotonic() < self.until else 0
                self.waiting = party[at_once:] if at_once else []
                if at_once:
                    self.let_in(party[:at_once])
                else:
                    await self.make_trip(party)
        finally:
            self.trips = None

    async def make_trip(self, party: list["Turn"]) -> None:
        try:
            answer = await self.count(len(party))
        except Exception as error:  # noqa: BLE001 (whoever waits must hear of it)
            refuse(party, error)
            return
        self.take(answer)
        for place, turn in enumerate(party[: self.granted], start=1):
            if not turn.done():
                turn.set_result((self.caller, self.verdict(self.granted - place)))
        if self.granted < len(party):
            refuse(party[self.granted :], limited(self.caller.limit, retry_ms=answer[4]))

    def let_in(self, party: list["Turn"]) -> None:
        for turn in party:
            self.left -= 1
            turn.set_result((self.caller, self.verdict()))

    async def count(self, calls: int) -> list[Any]:
        """The script's answer `counted`. What is left of the allotment goes back with the trip."""
        args = (calls, self.wanted(), self.lent, self.left, self.lent_at_ms)
        self.lent = self.left = 0
        answer = await self.run(args)
        if answer[0] == ASK:
            record = await self.gates.lookup.read(self.digest.hex())
            if record is None:
                self.gates.forget(self)
                raise Unauthorized
            answer = await self.run((*args, *record))
        if answer[0] == EXPIRED:
            raise Unauthorized
        if answer[0] == INACTIVE:
            raise inactive(answer)
        return answer

    def wanted(self) -> int:
        """Twice what passed since the last trip if that was within a second: who calls seldom is counted exactly."""
        if not settings.LOCAL_ADMISSION or monotonic() - self.sent_at > 1:
            return 0
        return 2 * (self.granted + self.lent - self.left)

    async def run(self, args: tuple[str | int, ...]) -> list[Any]:
        self.sent_at = monotonic()
        answer: list[Any] = await link().run(ADMIT, self.keys, args)
        return answer

    def take(self, answer: list[Any]) -> None:
        _, self.granted, self.remaining, reset_ms, _, lent, *rest = answer
        self.lent_at_ms, expires_in_ms, old, *known_by, limit = rest
        self.left = self.lent = lent
        good_for = ALLOTMENT_SECONDS if expires_in_ms < 0 else min(ALLOTMENT_SECONDS, expires_in_ms / 1000)
        self.until = self.sent_at + good_for
        self.reset_at = monotonic() + reset_ms / 1000
        if known_by != self.known_by or limit != self.caller.limit:
            self.known_by = known_by
            account_id, key_id, scopes = (field.decode() for field in known_by)
            self.caller = Caller(UUID(account_id), UUID(key_id), frozenset(scopes.split()), limit)
        self.gates.move_last(self)
        if self.sent_at - self.noted_at >= NOTE_USE_SECONDS:
            self.noted_at = self.sent_at
            self.gates.lookup.note_use(self.caller.key_id)
        if old and self.renewing is None and monotonic() >= self.renew_at:
            self.renewing = self.gates.loop.create_task(self.renew(), context=Context())

    async def renew(self) -> None:
        """What Postgres says of the key by now, in the background: until it can say, what it said last goes on."""
        self.renew_at, run_id = monotonic() + RENEW_EVERY_SECONDS, link().run_id
        try:
            record = await self.gates.lookup.read(self.digest.hex())
            if link().run_id != run_id:
                return  # with the server's run a tombstone may have gone that was set meanwhile
            if record is None:  # no service has done that
                await link().run(BURY, (self.keys[0], self.keys[2]), ())
            else:
                await link().run(ADMIT, self.keys, (*NO_CALLS, *record))
        except ServiceUnavailable as error:
            logger.info("a key's record was not renewed: %s", error)
        finally:
            self.renewing = None


type Turn = asyncio.Future[tuple[Caller, Verdict]]


def refuse(party: list[Turn], error: Exception) -> None:
    for turn in party:
        if not turn.done():
            turn.set_exception(error)


def limited(limit: int, *, retry_ms: int) -> RateLimited:
    retry_after = max(1, ceil(retry_ms / 1000))
    return RateLimited(retry_after=retry_after, headers=Verdict(limit, 0, retry_after).headers())


def inactive(answer: list[Any]) -> AccountInactive:
    """Nothing was counted; what the headers say is as true as for those who are let in."""
    _, _, remaining, reset_ms, *_, limit = answer
    return AccountInactive(headers=Verdict(limit, remaining, max(1, ceil(reset_ms / 1000))).headers())
