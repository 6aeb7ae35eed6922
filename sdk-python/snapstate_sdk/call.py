"""A call before it is sent and its answer after: what the sync and the async client have in common."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True, slots=True)
class Answer:
    """`headers` are asked for by any case of their name."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request, and how its answer is read.

    `repeatable`: sending it again, when nobody knows whether the first one arrived, changes nothing more.
    `gone_is_done`: when it is sent again and the thing is not there, then it was this call that removed it.
    `understood`: statuses of 300 and above that `read` knows what to make of.
    """

    method: str
    path: str
    read: Callable[[Answer], T]
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    gone_is_done: bool = False
    understood: frozenset[int] = frozenset()

    def then(self, use: Callable[[T], U]) -> "Call[U]":
        """The same call, whose result is made of this one's."""
        return replace(self, read=lambda answer: use(self.read(answer)))  # type: ignore[return-value, arg-type]


@dataclass(frozen=True, slots=True)
class Pages(Generic[T]):
    """A list that is asked for page by page: given a cursor (None at first), the call for a page.

    Which answers with its items and the cursor of the next page, None after the last.
    """

    page: Callable[[str | None], Call[tuple[list[T], str | None]]]


def plain(answer: Answer) -> Any:
    """The answer's JSON, where no text of a client's stands in it. Raises ValueError."""
    return json.loads(answer.content)


def nothing(answer: Answer) -> None:
    """204: there is nothing to read."""
