"""A session on the live server: items in their order, taken back one by one, safe under several processes."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from agents.memory.session import Session
from agents.memory.session_settings import SessionSettings
from snapstate_sdk import (
    ConnectionFailedError,
    ForbiddenError,
    NotFoundError,
    PayloadTooLargeError,
    SnapStateClient,
    UnsendableValueError,
)
from snapstate_sdk.adapters.history import WINDOW
from snapstate_sdk.adapters.openai_agents import SnapStateSession

from accounts import services
from accounts.models import Account
from tests.clients.faults import faulty

Act = Callable[[SnapStateSession], Awaitable[Any]]


def said(text: Any) -> Any:
    return {"role": "user", "content": text}


def texts(items: list[Any]) -> list[str]:
    return [item["content"] for item in items]


@asynccontextmanager
async def opened(base_url: str, key: str, name: str = "chat", **options: Any) -> AsyncIterator[SnapStateSession]:
    async with SnapStateClient(key, base_url, max_retries=options.pop("max_retries", None)) as client:
        yield SnapStateSession(name, client, **options)


@pytest.fixture
def session(base_url: str, key: str) -> Callable[..., Any]:
    """Runs an act on the session `chat` of a client of its own, as a process of its own would."""

    def run(act: Act, **options: Any) -> Any:
        async def whole() -> Any:
            async with opened(base_url, key, **options) as chat:
                return await act(chat)

        return asyncio.run(whole())

    return run


async def everything(chat: SnapStateSession) -> list[str]:
    return texts(await chat.get_items())


def test_it_is_what_the_agents_sdk_calls_a_session(session: Callable[..., Any]) -> None:
    async def act(chat: SnapStateSession) -> bool:
        return isinstance(chat, Session)

    assert session(act) is True


def test_items_come_back_in_order_and_one_by_one(session: Callable[..., Any]) -> None:
    async def act(chat: SnapStateSession) -> None:
        assert await chat.get_items() == []
        assert await chat.pop_item() is None
        await chat.add_items([])
        await chat.add_items([said("a"), said("b")])
        await chat.add_items([said("c")])
        assert [await chat.pop_item(), await chat.pop_item()] == [said("c"), said("b")]
        await chat.add_items([said("d")])
        assert texts(await chat.get_items()) == ["a", "d"]

    session(act)
    assert session(everything) == ["a", "d"]


def test_a_cleared_session_is_gone_from_the_server_and_begins_anew(session: Callable[..., Any]) -> None:
    async def act(chat: SnapStateSession) -> None:
        await chat.add_items([said("a")])
        await chat.clear_session()
        with pytest.raises(NotFoundError):
            await chat.client.async_get_workflow(chat.workflow_id)
        await chat.clear_session()
        await chat.add_items([said("b")])

    session(act)
    assert session(everything) == ["b"]


@pytest.mark.parametrize(("limit", "expected"), [(1, ["9"]), (3, ["7", "8", "9"]), (0, []), (-1, []), (99, [*"56789"])])
def test_a_limit_takes_the_latest(session: Callable[..., Any], limit: int, expected: list[str]) -> None:
    async def act(chat: SnapStateSession) -> None:
        await chat.add_items([said(text) for text in "56xy"])
        await chat.pop_item()
        await chat.pop_item()
        await chat.add_items([said(text) for text in "789"])
        assert texts(await chat.get_items(limit)) == expected

    session(act)
    assert session(everything, session_settings=SessionSettings(limit=limit)) == expected


def test_many_steps_are_read_in_windows(session: Callable[..., Any]) -> None:
    many = [str(n) for n in range(WINDOW + 7)]

    async def act(chat: SnapStateSession) -> None:
        for text in many:
            await chat.add_items([said(text)])
        for _ in range(WINDOW // 2 + 5):
            await chat.pop_item()
        left = many[: len(many) - WINDOW // 2 - 5]
        assert texts(await chat.get_items()) == left
        assert texts(await chat.get_items(WINDOW // 4)) == left[-(WINDOW // 4) :]
        assert await chat.pop_item() == said(left[-1])

    session(act)


def test_several_processes_add_the_same_and_take_each_once(base_url: str, key: str) -> None:
    async def race() -> tuple[list[Any], list[Any]]:
        async with opened(base_url, key) as one, opened(base_url, key) as two, opened(base_url, key) as three:
            chats = [one, two, three]
            await asyncio.gather(*(chat.add_items([said("hello")]) for chat in chats for _ in range(4)))
            kept = await one.get_items()
            return kept, await asyncio.gather(*(chat.pop_item() for chat in chats for _ in range(5)))

    kept, popped = asyncio.run(race())
    assert kept == [said("hello")] * 12
    assert sorted(popped, key=str) == [None] * 3 + [said("hello")] * 12


def test_of_racing_pops_each_takes_another_item(base_url: str, key: str) -> None:
    async def race() -> list[Any]:
        async with opened(base_url, key) as one, opened(base_url, key) as two:
            await one.add_items([said(str(n)) for n in range(12)])
            return await asyncio.gather(*(chat.pop_item() for chat in (one, two) for _ in range(6)))

    assert sorted(texts(asyncio.run(race())), key=int) == [str(n) for n in range(12)]


def test_over_a_bad_line_nothing_is_lost_and_nothing_doubled(base_url: str, key: str, session: Any) -> None:
    async def talk(url: str) -> None:
        async with opened(url, key) as chat:
            for n in range(30):
                await chat.add_items([said(str(n)), said("gone")])
                assert await chat.pop_item() == said("gone")

    with faulty(base_url, seed=3, rate=0.4) as proxy:
        asyncio.run(talk(proxy.url))
        assert len(proxy.met) >= 4
    assert session(everything) == [str(n) for n in range(30)]


def test_more_than_a_step_holds_takes_several_and_one_item_too_large_is_refused(session: Callable[..., Any]) -> None:
    large = [said(str(n) * 400_000) for n in range(5)]

    async def act(chat: SnapStateSession) -> None:
        await chat.add_items(large)
        with pytest.raises(PayloadTooLargeError) as refused:
            await chat.add_items([said("x" * 1_100_000)])
        assert "keep large contents elsewhere" in refused.value.__notes__[0]
        assert await chat.get_items() == large

    session(act)


def test_of_items_that_need_several_steps_none_is_added_when_one_is_refused(session: Callable[..., Any]) -> None:
    async def act(chat: SnapStateSession) -> None:
        await chat.add_items([said("a")])
        with pytest.raises(PayloadTooLargeError, match="keep large contents elsewhere"):
            await chat.add_items([said("b"), said("x" * 1_100_000)])
        with pytest.raises(UnsendableValueError):
            await chat.add_items([said("b"), said("x" * 1_000_000), said(float("nan"))])

    session(act)
    assert session(everything) == ["a"]


def test_what_json_cannot_say_is_refused_and_the_session_goes_on(session: Callable[..., Any]) -> None:
    async def act(chat: SnapStateSession) -> None:
        await chat.add_items([said("a")])
        with pytest.raises(UnsendableValueError):
            await chat.add_items([said(float("nan"))])
        await chat.add_items([said("b")])

    session(act)
    assert session(everything) == ["a", "b"]


def test_a_server_that_is_down_is_an_error_with_a_type(key: str) -> None:
    async def act(url: str) -> None:
        async with opened(url, key, max_retries=2) as chat:
            with pytest.raises(ConnectionFailedError):
                await chat.get_items()
            with pytest.raises(ConnectionFailedError):
                await chat.add_items([said("a")])

    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    asyncio.run(act(url))


def test_a_key_that_may_only_read_adds_and_takes_nothing(base_url: str, key: str, account: Account) -> None:
    async def act(secret: str) -> None:
        async with opened(base_url, key) as owner, opened(base_url, secret) as reader:
            await owner.add_items([said("a")])
            for refused in (reader.add_items([said("b")]), reader.pop_item(), reader.clear_session()):
                with pytest.raises(ForbiddenError):
                    await refused
            assert await reader.get_items() == await owner.get_items() == [said("a")]

    asyncio.run(act(services.issue_key(account, scopes=["checkpoints:read"])[1]))
