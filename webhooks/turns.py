"""Whose turn it is: one for each before anybody gets a second, and a lane apart for those that take long. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

REMEMBERED = 100_000


class Due(NamedTuple):
    """An endpoint with deliveries that are due."""

    endpoint_id: int
    account_id: UUID
    slow: bool


class Lane(NamedTuple):
    """How many may be under way at once: in all, of one account, of one endpoint."""

    room: int
    of_account: int
    of_endpoint: int


# An endpoint is not known to be slow until it was once. Even if all of an account's become so in the same moment,
# they hold a quarter of the fast lane for fifteen seconds.
LANES = {False: Lane(room=96, of_account=24, of_endpoint=8), True: Lane(room=32, of_account=8, of_endpoint=1)}


@dataclass(slots=True)
class Turns:
    """Who has how many under way in this process, and who was last served when."""

    taken: Counter[object] = field(default_factory=Counter)
    served: dict[int, int] = field(default_factory=dict)
    turn: int = 0

    def share_out(self, due: Iterable[Due]) -> dict[Due, int]:
        """How many each gets now, longest unserved first. Whatever comes of them is given back one by one."""
        self.turn += 1
        granted: Counter[Due] = Counter()
        waiting = sorted(due, key=lambda each: self.served.get(each.endpoint_id, 0))
        while waiting:
            waiting = [each for each in waiting if self._take(each)]
            granted.update(waiting)
        self._remember(granted)
        return dict(granted)

    def give_back(self, due: Due, count: int = 1) -> None:
        for place in places(due):
            self.taken[place] -= count
            if not self.taken[place]:
                del self.taken[place]

    def _take(self, due: Due) -> bool:
        found = places(due)
        if any(self.taken[place] >= most for place, most in found.items()):
            return False
        self.taken.update(found.keys())
        return True

    def _remember(self, granted: Iterable[Due]) -> None:
        if len(self.served) > REMEMBERED:
            self.served.clear()
        self.served.update((each.endpoint_id, self.turn) for each in granted)


def places(due: Due) -> dict[object, int]:
    """What one that is under way takes a place in, with how many there are."""
    lane = LANES[due.slow]
    return {
        ("lane", due.slow): lane.room,
        ("account", due.slow, due.account_id): lane.of_account,
        ("endpoint", due.slow, due.endpoint_id): lane.of_endpoint,
    }
