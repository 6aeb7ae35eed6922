"""A circuit: after a few failures in a row a tier is not asked any more, so that a dead one costs nobody its timeout.

While it is open nobody's request is used to find out: a task of its own asks the tier every few seconds, and closes it
when there is an answer. So does a call from before that succeeds after all. To be used on the event loop.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context

from snapstate_project.common.metrics import Counter

FAILURES = 3
SHORTEST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 2.0

opened = Counter("snapstate_circuit_opened", "Times a tier was found dead by a web process.", ("tier",))
refused = Counter("snapstate_circuit_refused", "Calls that were spared the wait for a dead tier.", ("tier",))


class Circuit:
    """`look` asks the tier for a sign of life; whatever it raises, there was none."""

    def __init__(self, tier: str, look: Callable[[], Awaitable[object]]) -> None:
        self.tier = tier
        self.look = look
        self.failures = 0
        self.is_open = False
        self.looking: asyncio.Task[None] | None = None

    def admits(self) -> bool:
        """Whether to make a call now; it is to end in `succeeded`, `failed`, or without a verdict."""
        if self.is_open:
            refused.count(self.tier)
            self.keep_looking()
        return not self.is_open

    def succeeded(self) -> None:
        self.failures, self.is_open = 0, False

    def failed(self) -> None:
        self.failures += 1
        if self.failures >= FAILURES and not self.is_open:
            self.is_open = True
            opened.count(self.tier)
            self.keep_looking()

    def keep_looking(self) -> None:
        """A task ends with its loop: then the next that is refused begins another."""
        loop = asyncio.get_running_loop()
        if self.looking is None or self.looking.done() or self.looking.get_loop() is not loop:
            # Its log lines belong to no request.
            self.looking = loop.create_task(self.look_until_it_answers(), context=Context())

    async def look_until_it_answers(self) -> None:
        pause = SHORTEST_PAUSE_SECONDS
        while self.is_open:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            try:
                await self.look()
            except Exception:  # noqa: BLE001 S112 (whatever it was, it was no sign of life)
                continue
            self.succeeded()
