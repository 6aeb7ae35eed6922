"""What goes wrong around the saver is told by the client's errors, and a bad line loses nothing and doubles nothing."""

import asyncio
import socket
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from snapstate_sdk import (
    AuthError,
    ConflictError,
    ConnectionFailedError,
    ForbiddenError,
    PayloadTooLargeError,
    SnapStateClient,
    SnapStateError,
)
from snapstate_sdk.adapters.langgraph import SnapStateSaver

from accounts import services
from accounts.models import Account
from tests.clients.faults import faulty
from tests.clients.threads import Config, config, put, values

NUMBERS = [1, 1.0, -0.0, 1e300, 2**62, -(2**63), 2**63, float("inf"), Decimal("1.10")]
TEXTS = ["", "\x00é🤖", b"\x00\xff", HumanMessage("hello", id="1")]
NESTED = [
    [],
    {},
    (1, 2),
    {"a": [1, {}]},
    {1: "a"},
    {"$type": "x"},
    {"a": {"$type": 1}},
    {"": 0, "__proto__": 1},
    {1, 2},
]
VALUES: list[Any] = [None, True, *NUMBERS, *TEXTS, *NESTED]


@pytest.fixture
def client(base_url: str, key: str) -> Iterator[SnapStateClient]:
    with SnapStateClient(key, base_url) as opened:
        yield opened


@pytest.fixture
def saver(client: SnapStateClient) -> SnapStateSaver:
    return SnapStateSaver(client)


def test_a_server_that_is_down_is_an_error_with_a_type(key: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with SnapStateClient(key, url, max_retries=2) as client:
        saver = SnapStateSaver(client)
        with pytest.raises(ConnectionFailedError):
            put(saver, config(), n=1)
        with pytest.raises(ConnectionFailedError):
            saver.get_tuple(config())
        with pytest.raises(ConnectionFailedError):
            list(saver.list(config()))
        with pytest.raises(ConnectionFailedError):
            asyncio.run(saver.aput_writes(config(checkpoint_id="1"), [("c", 1)], "task"))


def test_a_key_that_may_only_read_reads_and_puts_nothing(
    base_url: str, account: Account, saver: SnapStateSaver
) -> None:
    at = put(saver, config(), n=1)
    secret = services.issue_key(account, scopes=["checkpoints:read"])[1]
    with SnapStateClient(secret, base_url) as client:
        reader = SnapStateSaver(client)
        assert values(reader, config()) == [1]
        with pytest.raises(ForbiddenError):
            put(reader, config(), n=2)
        with pytest.raises(ForbiddenError):
            reader.put_writes(at, [("c", 1)], "task")
        with pytest.raises(ForbiddenError):
            reader.delete_thread("thread")
    assert values(saver, config()) == [1]


def test_an_unknown_key_is_told_so(base_url: str) -> None:
    with SnapStateClient("snp_" + "0" * 32, base_url) as client, pytest.raises(AuthError):
        SnapStateSaver(client).get_tuple(config())


def test_what_is_too_large_is_refused_with_advice_and_leaves_the_thread_as_it_was(saver: SnapStateSaver) -> None:
    at = put(saver, config(), n=1)
    with pytest.raises(PayloadTooLargeError) as refused:
        put(saver, config(), n="x" * 1_100_000)
    assert "keep large values elsewhere" in refused.value.__notes__[0]
    with pytest.raises(PayloadTooLargeError) as refused:
        saver.put_writes(at, [("c", "x" * 1_100_000)], "task")
    assert "keep large values elsewhere" in refused.value.__notes__[0]
    put(saver, config(), n=2)
    assert values(saver, config()) == [2, 1]


def test_writes_that_need_more_than_one_step_are_whole(saver: SnapStateSaver) -> None:
    at = put(saver, config(), n=1)
    writes = [("c", str(n) * 400_000) for n in range(5)]
    saver.put_writes(at, writes, "task")
    saver.put_writes(at, writes, "task")
    found = saver.get_tuple(at)
    assert found is not None
    assert found.pending_writes == [("task", *write) for write in writes]


def test_writes_of_which_one_was_refused_do_not_count(saver: SnapStateSaver) -> None:
    """LangGraph takes a task that has any for one that is done: the rest of what it wrote would be lost."""
    at = put(saver, config(), n=1)
    with pytest.raises(PayloadTooLargeError):
        saver.put_writes(at, [("small", 1), ("large", "x" * 1_100_000)], "task")
    saver.put_writes(at, [("small", 1)], "other")
    assert [pending(saver, at), *(found.pending_writes for found in saver.list(at))] == [[("other", "small", 1)]] * 2
    again = [("small", 2), ("large", "x" * 900_000), ("third", "y" * 900_000)]
    saver.put_writes(at, again, "task")
    assert pending(saver, at) == [("other", "small", 1), *(("task", *write) for write in again)]


def pending(saver: SnapStateSaver, at: Config) -> Any:
    found = saver.get_tuple(at)
    return found and found.pending_writes


def test_what_is_nested_too_deep_for_json_goes_as_bytes(saver: SnapStateSaver) -> None:
    deep: Any = []
    for _ in range(150):
        deep = [deep]
    put(saver, config(), n=deep)
    assert values(saver, config()) == [deep]


def test_every_value_comes_back_as_from_langgraphs_own_serializer(saver: SnapStateSaver) -> None:
    at = put(saver, config(), **{f"c{n}": value for n, value in enumerate(VALUES)})
    saver.put_writes(at, [("c", value) for value in VALUES], "task")
    found = saver.get_tuple(at)
    assert found is not None
    expected = [repr(saver.serde.loads_typed(saver.serde.dumps_typed(value))) for value in VALUES]
    assert [repr(value) for value in found.checkpoint["channel_values"].values()] == expected
    assert [repr(value) for _, _, value in found.pending_writes or []] == expected


def test_a_thread_that_others_hold_with_other_content_is_not_written_over(
    client: SnapStateClient, saver: SnapStateSaver
) -> None:
    """Somebody else's use of the workflow is a conflict at most, never a loss."""
    at = put(saver, config(), n=1)
    workflow, _ = saver.workflow_ids("thread")
    client.save(workflow, 1, {"not": "ours"}, label="theirs")
    with pytest.raises(ConflictError):
        client.save(workflow, 0, {"over": "ours"})
    assert saver.get_tuple(at) is not None
    with pytest.raises(SnapStateError, match="who else saves"):
        saver.get_tuple(config())
    client.erase(workflow)
    assert saver.get_tuple(config()) is None


def test_over_a_bad_line_all_is_there_once(base_url: str, key: str, saver: SnapStateSaver) -> None:
    with faulty(base_url, seed=6, rate=0.4) as proxy, SnapStateClient(key, proxy.url) as client:
        over = SnapStateSaver(client)
        for n in range(30):
            at = put(over, config(), n=n)
            over.put_writes(at, [("c", n)], "task")
    assert len(proxy.met) >= 4
    assert values(saver, config()) == list(range(29, -1, -1))
    assert [found.pending_writes for found in saver.list(config())] == [[("task", "c", n)] for n in range(29, -1, -1)]
    assert client_steps(saver) == [30, 30]


def client_steps(saver: SnapStateSaver) -> list[int]:
    return [saver.client.get_workflow(workflow).total_checkpoints for workflow in saver.workflow_ids("thread")]
