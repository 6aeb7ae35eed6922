"""The link's promises: every caller gets its own reply or RedisDown, in time, whatever happens to the server."""

import asyncio
import os
import signal
import time

import pytest

from snapstate_project.common.errors import RedisDown
from snapstate_project.common.link import PATIENCE_SECONDS
from snapstate_project.common.wire import RedisError, reply_error


async def until_back(link) -> float:
    """Seconds until commands are answered again."""
    began = time.monotonic()
    while time.monotonic() - began < 10:
        try:
            await link.execute("PING")
            return time.monotonic() - began
        except RedisDown:
            await asyncio.sleep(0.01)
    raise AssertionError("the link did not come back")


def test_each_of_many_callers_gets_its_own_reply(linked):
    async def scenario(link):
        await until_back(link)
        return await asyncio.gather(*(link.execute("ECHO", str(n)) for n in range(5000)))

    assert linked(scenario) == [b"%d" % n for n in range(5000)]


def test_a_pipeline_answers_in_order(linked):
    async def scenario(link):
        return await link.pipeline([("SET", "a", 1), ("INCRBY", "a", 41), ("GET", "a"), ("GET", "none")])

    assert linked(scenario) == [b"OK", 42, b"42", None]


def test_a_large_value_comes_back_whole(linked):
    value = os.urandom(5_000_000)

    async def scenario(link):
        await link.execute("SET", "large", value)
        return await link.execute("GET", "large")

    assert linked(scenario, timeout=5) == value


def test_a_refused_command_is_its_callers_alone(linked):
    async def scenario(link):
        return await asyncio.gather(
            link.execute("ECHO", "a"), link.execute("NONSENSE"), link.execute("ECHO", "b"), return_exceptions=True
        )

    first, refused, last = linked(scenario)
    assert (first, last) == (b"a", b"b")
    assert isinstance(refused, RedisError)


def test_cancelled_callers_do_not_shift_the_replies_of_others(linked):
    async def scenario(link):
        await link.execute("PING")
        calls = [asyncio.create_task(link.execute("ECHO", str(n))) for n in range(100)]
        await asyncio.sleep(0)
        for call in calls[::3]:
            call.cancel()
        return await asyncio.gather(*calls, return_exceptions=True)

    replies = linked(scenario)
    assert all(isinstance(reply, asyncio.CancelledError) for reply in replies[::3])
    assert [r for n, r in enumerate(replies) if n % 3] == [b"%d" % n for n in range(100) if n % 3]


def test_a_script_learns_the_run_id_of_its_server(linked, echo):
    async def scenario(link):
        return await link.run(echo, ["key"], ["arg"]), link.run_id

    reply, run_id = linked(scenario)
    assert reply == [b"key", run_id, b"arg"]
    assert len(run_id) == 40


def test_a_flushed_script_runs_all_the_same(linked, echo):
    async def scenario(link):
        before = await link.run(echo, ["key"], [1])
        await link.execute("SCRIPT", "FLUSH")
        return before, await link.run(echo, ["key"], [1])

    before, after = linked(scenario)
    assert before == after


def test_after_a_restart_scripts_learn_the_new_run_id(linked, server, echo):
    async def scenario(link):
        before = (await link.run(echo, ["key"], [1]))[1]
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        await until_back(link)
        return before, (await link.run(echo, ["key"], [1]))[1], link.run_id

    before, after, run_id = linked(scenario)
    assert before != after == run_id


def test_commands_in_flight_when_the_server_dies_fail_and_are_not_sent_again(linked, server):
    async def scenario(link):
        await link.execute("PING")
        os.kill(server.pid, signal.SIGSTOP)
        calls = [asyncio.create_task(link.execute("INCR", "count")) for _ in range(10)]
        await asyncio.sleep(0)
        await asyncio.to_thread(server.kill)
        failed = await asyncio.gather(*calls, return_exceptions=True)
        await asyncio.to_thread(server.start)
        await until_back(link)
        return failed, await link.execute("GET", "count")

    failed, count = linked(scenario, timeout=20)
    assert all(isinstance(error, RedisDown) for error in failed)
    assert count is None


def test_a_frozen_server_is_given_up_in_time_and_found_again(linked, server):
    async def scenario(link):
        await link.execute("PING")
        os.kill(server.pid, signal.SIGSTOP)
        began = time.monotonic()
        with pytest.raises(RedisDown, match="in time"):
            await link.execute("PING")
        waited = time.monotonic() - began
        os.kill(server.pid, signal.SIGCONT)
        return waited, await until_back(link)

    waited, back = linked(scenario)
    assert 0.4 <= waited < 0.8
    assert back < 3


def test_a_frozen_server_costs_later_callers_nothing(linked, server):
    async def scenario(link):
        await link.execute("PING")
        server.send(signal.SIGSTOP)
        with pytest.raises(RedisDown):
            await link.execute("PING")
        await asyncio.sleep(PATIENCE_SECONDS)
        began = time.monotonic()
        for _ in range(100):
            with pytest.raises(RedisDown):
                await link.execute("PING")
        return time.monotonic() - began

    try:
        assert linked(scenario) < 0.5
    finally:
        server.send(signal.SIGCONT)


def test_the_queue_is_bounded(linked, server):
    async def scenario(link):
        await link.execute("PING")
        os.kill(server.pid, signal.SIGSTOP)
        calls = [asyncio.create_task(link.execute("PING")) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(RedisDown, match="Too many"):
            await link.execute("PING")
        os.kill(server.pid, signal.SIGCONT)
        return await asyncio.gather(*calls)

    assert linked(scenario, limit=3, timeout=5) == [b"PONG"] * 3


def test_bytes_that_wait_are_bounded_too(linked, server):
    async def scenario(link):
        await link.execute("PING")
        os.kill(server.pid, signal.SIGSTOP)
        large = b"x" * 20_000_000
        calls = [asyncio.create_task(link.execute("ECHO", large)) for _ in range(5)]
        await asyncio.sleep(0.05)
        with pytest.raises(RedisDown, match="Too many"):
            await link.execute("PING")
        os.kill(server.pid, signal.SIGCONT)
        return await asyncio.gather(*calls)

    assert [len(reply) for reply in linked(scenario, timeout=20)] == [20_000_000] * 5


def test_without_a_server_callers_wait_a_moment_and_then_not_at_all(linked, server):
    server.stop()

    async def scenario(link):
        waits = []
        for _ in range(2):
            began = time.monotonic()
            with pytest.raises(RedisDown):
                await link.execute("PING")
            waits.append(time.monotonic() - began)
        return waits

    first, second = linked(scenario)
    assert 0.3 < first < 1
    assert second < 0.05


def test_a_short_restart_is_waited_out(linked, server):
    async def scenario(link):
        await link.execute("PING")
        await asyncio.to_thread(server.kill)
        starting = asyncio.create_task(asyncio.to_thread(server.start))
        await asyncio.sleep(0.02)
        return await until_back(link), await starting

    assert linked(scenario)[0] < 2


def test_a_server_out_of_memory_or_read_only_is_an_outage(linked):
    async def scenario(link):
        await link.execute("CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(RedisDown, match="memory"):
            await link.execute("SET", "a", "b")
        await link.execute("REPLICAOF", "127.0.0.1", "1")
        with pytest.raises(RedisDown, match="read-only"):
            await link.execute("SET", "a", "b")
        return await until_back(link)

    assert linked(scenario) < 1


@pytest.mark.parametrize(
    "code", ["BUSY", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "READONLY", "UNBLOCKED", "CLUSTERDOWN"]
)
def test_codes_of_outages_are_told_from_mistakes(code):
    assert isinstance(reply_error(f"{code} whatever Redis says"), RedisDown)
    assert isinstance(reply_error("WRONGTYPE Operation against a key"), RedisError)


def test_a_wrong_password_is_an_outage_and_is_logged(linked, server, caplog):
    async def scenario(link):
        with pytest.raises(RedisDown):
            await link.execute("PING")

    linked(scenario, url=server.url.replace(server.password, "wrong"))
    assert "WRONGPASS" in caplog.text


def test_the_link_names_itself_and_uses_the_database_of_its_url(linked, server):
    async def scenario(link):
        return await link.execute("CLIENT", "INFO")

    said = linked(scenario, url=server.url.removesuffix("/0") + "/3").decode()
    assert f"name=snapstate:{os.getpid()} " in said
    assert " db=3 " in said
