"""Things that may share a step, as many as its state has room for."""

import json
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
ROOM = 1_000_000  # bytes of them in one step; a state has at most 1,048,576


def shares(things: Iterable[T]) -> Iterator[list[T]]:
    """In their order; one that is larger than the room stands alone, and the server will refuse it."""
    share: list[T] = []
    left = ROOM
    for thing in things:
        size = len(json.dumps(thing, ensure_ascii=False, default=str).encode(errors="replace")) + 1
        if share and size > left:
            yield share
            share, left = [], ROOM
        share.append(thing)
        left -= size
    if share:
        yield share
