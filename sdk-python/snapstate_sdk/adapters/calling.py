"""What an adapter asks of the server, written once: a plan yields its calls, and a driver sends them, sync or async."""

from collections.abc import AsyncIterator, Generator, Iterator
from typing import Any, TypeVar

from snapstate_sdk.call import Call
from snapstate_sdk.client import SnapStateClient
from snapstate_sdk.errors import SnapStateError

T = TypeVar("T")

Plan = Generator[Call[Any], Any, T]
"""Yields calls, is sent their answers (or has their errors thrown in), and returns T."""

Stream = Generator[Call[Any] | T, Any, None]
"""Yields calls as a plan does, and between them what it has found."""


def ask(call: Call[T]) -> Plan[T]:
    """One call, within a plan: `found = yield from ask(resume(…))`."""
    answer: T = yield call
    return answer


def run(client: SnapStateClient, plan: Plan[T]) -> T:
    ended: list[T] = []
    list(stream(client, _into(ended, plan)))
    return ended[0]


async def arun(client: SnapStateClient, plan: Plan[T]) -> T:
    ended: list[T] = []
    async for _ in astream(client, _into(ended, plan)):
        pass
    return ended[0]


def stream(client: SnapStateClient, plan: Stream[T]) -> Iterator[T]:
    step = next(plan, None)
    while step is not None:
        if not isinstance(step, Call):
            yield step
            step = next(plan, None)
            continue
        try:
            answer = client.connection.send(step)
        except SnapStateError as error:
            step = _thrown(plan, error)
        else:
            step = _sent(plan, answer)


async def astream(client: SnapStateClient, plan: Stream[T]) -> AsyncIterator[T]:
    step = next(plan, None)
    while step is not None:
        if not isinstance(step, Call):
            yield step
            step = next(plan, None)
            continue
        try:
            answer = await client.connection.async_send(step)
        except SnapStateError as error:
            step = _thrown(plan, error)
        else:
            step = _sent(plan, answer)


def _into(ended: list[T], plan: Plan[T]) -> Stream[None]:
    ended.append((yield from plan))


def _sent(plan: Stream[T], answer: Any) -> Call[Any] | T | None:
    try:
        return plan.send(answer)
    except StopIteration:
        return None


def _thrown(plan: Stream[T], error: SnapStateError) -> Call[Any] | T | None:
    try:
        return plan.throw(error)
    except StopIteration:
        return None
