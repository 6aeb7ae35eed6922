"""Random names, made many at a time: to ask the system for each costs more than what it gives."""

import os
from collections.abc import Callable

PIECE = 16
PIECES = 256


class RandomNames[Name]:
    """`make` shapes sixteen random bytes into a name that nobody else is given."""

    def __init__(self, make: Callable[[bytes], Name]) -> None:
        self.make = make
        self.ready: list[Name] = []
        os.register_at_fork(after_in_child=self.ready.clear)  # else two processes would give the same names

    def take(self) -> Name:
        """From any thread."""
        while True:
            try:
                return self.ready.pop()
            except IndexError:
                drawn = os.urandom(PIECE * PIECES)
                self.ready.extend([self.make(drawn[at : at + PIECE]) for at in range(0, len(drawn), PIECE)])
