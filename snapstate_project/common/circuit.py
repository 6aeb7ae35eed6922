"""A circuit: after a few failures in a row a tier is not asked for a moment, so that a dead one costs nobody a timeout.

Closed, every call is let through. Open, none is, until it has rested; then one is, to see. While that one is under way
the others are still refused, and when it fails the rest is longer than before.
"""

import threading
import time
from collections.abc import Callable

from snapstate_project.common.metrics import Counter

FAILURES = 3
SHORTEST_REST_SECONDS = 0.5
LONGEST_REST_SECONDS = 4.0

opened = Counter("snapstate_circuit_opened", "Times a tier was found dead by a web process.", ("tier",))
refused = Counter("snapstate_circuit_refused", "Calls that were spared the wait for a dead tier.", ("tier",))


class Circuit:
    """Use from any thread. Every call that `admits` let through ends in `succeeded`, `failed`, or without a verdict."""

    def __init__(self, tier: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.tier = tier
        self.clock = clock
        self.lock = threading.Lock()
        self.failures = 0
        self.rest = 0.0
        self.asks_again_at = 0.0
        self.is_probing = False

    @property
    def is_open(self) -> bool:
        return self.rest > 0

    def admits(self) -> bool:
        """Whether to make the call now."""
        with self.lock:
            if not self.is_open:
                return True
            now = self.clock()
            if now < self.asks_again_at:
                refused.count(self.tier)
                return False
            # Should nobody come back with a verdict, somebody else tries after another rest.
            self.asks_again_at, self.is_probing = now + LONGEST_REST_SECONDS, True
            return True

    def succeeded(self) -> None:
        with self.lock:
            self.failures, self.rest, self.is_probing = 0, 0.0, False

    def failed(self) -> None:
        """A failure while it is open and nobody was let through comes late, and says nothing new."""
        with self.lock:
            self.failures += 1
            if self.is_open and not self.is_probing:
                return
            if self.is_open or self.failures >= FAILURES:
                if not self.is_open:
                    opened.count(self.tier)
                self.rest = min(max(2 * self.rest, SHORTEST_REST_SECONDS), LONGEST_REST_SECONDS)
                self.asks_again_at, self.is_probing = self.clock() + self.rest, False
