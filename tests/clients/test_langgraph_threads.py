"""Threads on the live server: any name, racing writers, copies and prunes that can be repeated, errors with a type."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis as redis_py
from snapstate_sdk import ConflictError, NotFoundError, SnapStateClient
from snapstate_sdk.adapters.langgraph import SnapStateSaver

from tests.clients.threads import checkpoint, config, ids, put, values
from tests.hostile.conftest import expire_all

ODD = ["", " ", "a/b", "a~b", "a%7eb", "..", "a\x00b\n", "研究-🤖", "x" * 5000, "x" * 5000 + "y", "%sha256.aa"]


@pytest.fixture
def client(base_url: str, key: str) -> Iterator[SnapStateClient]:
    with SnapStateClient(key, base_url) as opened:
        yield opened


@pytest.fixture
def saver(client: SnapStateClient) -> SnapStateSaver:
    return SnapStateSaver(client)


def test_threads_of_any_name_never_meet(saver: SnapStateSaver) -> None:
    put_at = {
        (thread, space): put(saver, config(thread, space), at=[i, j])
        for i, thread in enumerate(ODD)
        for j, space in enumerate(["", *ODD[1:5]])
    }
    assert len(put_at) == len(ODD) * 5
    for (thread, space), where in put_at.items():
        found = saver.get_tuple(config(thread, space))
        assert found is not None
        assert found.config == where
        assert found.checkpoint["channel_values"]["at"] == [ODD.index(thread), ["", *ODD[1:5]].index(space)]
    saver.delete_thread(ODD[0])
    assert [thread for thread in ODD if saver.get_tuple(config(thread)) is None] == [ODD[0]]


def test_savers_with_other_prefixes_do_not_see_one_another(client: SnapStateClient, saver: SnapStateSaver) -> None:
    put(saver, config(), x=1)
    assert SnapStateSaver(client, prefix="other").get_tuple(config()) is None


def test_two_processes_that_put_at_once_lose_nothing(base_url: str, key: str) -> None:
    """Each saver knows only what it did itself, as in processes of their own."""

    def put_many(_: int) -> list[str]:
        with SnapStateClient(key, base_url) as client:
            own = SnapStateSaver(client)
            return [put(own, config(), x=1)["configurable"]["checkpoint_id"] for _ in range(10)]

    with ThreadPoolExecutor(4) as threads, SnapStateClient(key, base_url) as client:
        done = [one for some in threads.map(put_many, range(4)) for one in some]
        assert ids(SnapStateSaver(client), config()) == sorted(done, reverse=True)
        latest = SnapStateSaver(client).get_tuple(config())
        assert latest is not None
        assert latest.checkpoint["id"] == max(done)


def test_tasks_that_put_writes_at_once_lose_nothing(base_url: str, key: str) -> None:
    async def all_at_once() -> Any:
        async with SnapStateClient(key, base_url) as one, SnapStateClient(key, base_url) as other:
            savers = [SnapStateSaver(one), SnapStateSaver(other)]
            at = await savers[0].aput(config(), checkpoint(), {}, {})
            await asyncio.gather(
                *(savers[n % 2].aput_writes(at, [("c", n), ("d", [n])], f"task-{n:02}") for n in range(40))
            )
            return await savers[1].aget_tuple(at)

    found = asyncio.run(all_at_once())
    expected = [(f"task-{n:02}", channel, value) for n in range(40) for channel, value in (("c", n), ("d", [n]))]
    assert found.pending_writes == expected


def test_a_checkpoint_put_again_is_one_checkpoint_with_its_last_content(
    client: SnapStateClient, saver: SnapStateSaver
) -> None:
    first, second = checkpoint(x=1), checkpoint(x=2)
    for one in (first, first, second, second, {**first, "channel_values": {"x": 3}}):
        at = saver.put(config(), one, {}, {})  # type: ignore[arg-type]
    assert ids(saver, config()) == [second["id"], first["id"]]
    again = saver.get_tuple(at)
    assert again is not None
    assert again.checkpoint["channel_values"] == {"x": 3}
    other = SnapStateSaver(client)
    assert [found.checkpoint["channel_values"] for found in other.list(config())] == [{"x": 2}, {"x": 3}]


def test_a_checkpoint_with_an_older_id_is_kept_and_does_not_become_the_newest(saver: SnapStateSaver) -> None:
    early, late = checkpoint(x="early"), checkpoint(x="late")
    saver.put(config(), late, {}, {})
    saver.put(config(), early, {}, {})
    latest = saver.get_tuple(config())
    assert latest is not None
    assert latest.checkpoint["id"] == late["id"]
    assert ids(saver, config()) == [late["id"], early["id"]]
    assert [found.checkpoint["id"] for found in saver.list(config(), before=config(checkpoint_id=late["id"]))] == [
        early["id"]
    ]


def test_a_list_of_many_comes_in_order_and_ends_where_it_should(saver: SnapStateSaver) -> None:
    put_ids = [put(saver, config(), n=n)["configurable"]["checkpoint_id"] for n in range(45)]
    saver.put_writes(config(checkpoint_id=put_ids[7]), [("c", "w")], "task")
    found = list(saver.list(config()))
    assert [one.checkpoint["channel_values"]["n"] for one in found] == list(range(44, -1, -1))
    assert [one.pending_writes for one in found if one.pending_writes] == [[("task", "c", "w")]]
    assert len(list(saver.list(config(), limit=21))) == 21
    assert list(saver.list(config(), limit=0)) == []
    assert ids(saver, config(checkpoint_id=put_ids[3])) == [put_ids[3]]


def test_all_threads_are_listed_once_the_list_has_them(saver: SnapStateSaver, intake: Callable[[], None]) -> None:
    for thread in ("one", "two"):
        put(saver, config(thread), x=thread)
    put(saver, config("two", "inner"), x="inner")
    intake()
    for found in (saver.list(None), saver.list({})):  # both mean all, as to LangGraph's own savers
        assert {one.checkpoint["channel_values"]["x"] for one in found} == {"one", "two", "inner"}


def test_a_copy_can_be_made_again_and_overwrites_nothing(saver: SnapStateSaver) -> None:
    for n in range(3):
        put(saver, config("from"), n=n)
    put(saver, config("from", "inner"), n="inner")
    saver.copy_thread("from", "to")
    saver.copy_thread("from", "to")
    assert ids(saver, config("to")) == ids(saver, config("from"))
    assert ids(saver, config("to", "inner")) == ids(saver, config("from", "inner"))
    put(saver, config("to"), n="more")
    saver.copy_thread("from", "to")
    assert len(ids(saver, config("to"))) == 4
    put(saver, config("else"), n="else")
    with pytest.raises(ConflictError):
        saver.copy_thread("from", "else")
    assert values(saver, config("else")) == ["else"]


def test_what_was_pruned_is_out_of_reach_for_every_saver(client: SnapStateClient, saver: SnapStateSaver) -> None:
    at = [put(saver, config(), n=n) for n in range(4)]
    other = SnapStateSaver(client)
    put(other, config(), n=4)
    saver.prune(["thread", "no such thread"])
    saver.prune(["thread"])
    assert [other.get_tuple(where) for where in at] == [None] * 4
    put(other, config(), n=5)
    assert values(saver, config()) == [5, 4]
    with pytest.raises(ValueError, match="strategy"):
        saver.prune(["thread"], strategy="keep_first")
    saver.prune(["thread"], strategy="delete")
    with pytest.raises(NotFoundError):
        client.get_workflow(saver.workflow_ids("thread")[0])


def test_a_thread_deleted_elsewhere_begins_anew(client: SnapStateClient, saver: SnapStateSaver) -> None:
    put(saver, config("thread", "inner"), n=1)
    SnapStateSaver(client).delete_thread("thread")
    put(saver, config("thread", "inner"), n=2)
    found = list(SnapStateSaver(client).list({"configurable": {"thread_id": "thread"}}))
    assert [one.checkpoint["channel_values"]["n"] for one in found] == [2]


@pytest.mark.parametrize("tier", ["warm", "archive"])
def test_a_thread_is_the_same_from_every_tier_and_goes_on(
    client: SnapStateClient, intake: Callable[[], None], redis: redis_py.Redis, tier: str
) -> None:
    saver = SnapStateSaver(client, ttl_seconds=60)
    for n in range(3):
        at = put(saver, config(), n=n)
    saver.put_writes(at, [("c", "w")], "task")
    before = list(saver.list(config()))
    intake()
    expire_all() if tier == "archive" else redis.flushall()
    other = SnapStateSaver(client)
    assert list(other.list(config())) == before
    assert other.get_tuple(config()) == before[0]
    put(other, config(), n=3)
    assert values(saver, config()) == [3, 2, 1, 0]
