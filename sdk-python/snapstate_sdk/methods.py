"""How an entry of `calls` becomes a method: one line for the sync client, one for its async twin."""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, get_args

from snapstate_sdk.call import Call, Pages
from snapstate_sdk.connection import Connected, Connection

P = ParamSpec("P")
T = TypeVar("T")


def sync(make: Callable[P, Call[T]]) -> Callable[Concatenate[Connected, P], T]:
    """Sends the call and waits."""

    @_signed(make)
    def method(self: Connected, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.connection.send(make(*args, **kwargs))

    return method


def asynchronous(make: Callable[P, Call[T]]) -> Callable[Concatenate[Connected, P], Coroutine[Any, Any, T]]:
    """Sends the call and awaits it."""

    @_signed(make)
    async def method(self: Connected, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.connection.async_send(make(*args, **kwargs))

    return method


def each(make: Callable[P, Pages[T]]) -> Callable[Concatenate[Connected, P], Iterator[T]]:
    """An iterator that asks for a page when it needs one."""

    @_signed(make, Iterator)
    def method(self: Connected, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return _walk(self.connection, make(*args, **kwargs))

    return method


def async_each(make: Callable[P, Pages[T]]) -> Callable[Concatenate[Connected, P], AsyncIterator[T]]:
    """An async iterator that asks for a page when it needs one."""

    @_signed(make, AsyncIterator)
    def method(self: Connected, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        return _async_walk(self.connection, make(*args, **kwargs))

    return method


def whole(make: Callable[P, Pages[T]]) -> Callable[Concatenate[Connected, P], list[T]]:
    """All pages as one list."""

    @_signed(make, list)
    def method(self: Connected, /, *args: P.args, **kwargs: P.kwargs) -> list[T]:
        return list(_walk(self.connection, make(*args, **kwargs)))

    return method


def async_whole(make: Callable[P, Pages[T]]) -> Callable[Concatenate[Connected, P], Coroutine[Any, Any, list[T]]]:
    """All pages as one list."""

    @_signed(make, list)
    async def method(self: Connected, /, *args: P.args, **kwargs: P.kwargs) -> list[T]:
        return [item async for item in _async_walk(self.connection, make(*args, **kwargs))]

    return method


def _walk(connection: Connection, pages: Pages[T]) -> Iterator[T]:
    cursor: str | None = None
    while True:
        items, cursor = connection.send(pages.page(cursor))
        yield from items
        if cursor is None:
            return


async def _async_walk(connection: Connection, pages: Pages[T]) -> AsyncIterator[T]:
    cursor: str | None = None
    while True:
        items, cursor = await connection.async_send(pages.page(cursor))
        for item in items:
            yield item
        if cursor is None:
            return


def _signed(make: Callable[..., Any], several: Any = None) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Name, docstring and signature of the entry, with `self` in front and what it answers: what `help()` shows.

    `several`: what it answers with many of them in, such as a list.
    """

    def sign(method: Callable[P, T]) -> Callable[P, T]:
        signed = wraps(make)(method)
        entry = inspect.signature(make)
        first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        one = get_args(entry.return_annotation)[0]
        answers = several[one] if several else one
        signature = entry.replace(parameters=[first, *entry.parameters.values()], return_annotation=answers)
        signed.__signature__ = signature  # type: ignore[attr-defined]
        signed.__annotations__ = {**make.__annotations__, "return": answers}
        return signed

    return sign
