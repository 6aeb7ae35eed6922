"""The two doors: `link()` of the running loop, and scripts in threads; both know the server they speak to."""

import asyncio
import time

import pytest
import redis as redis_py
from django.test import override_settings

from snapstate_project.common import redis as common_redis
from snapstate_project.common.errors import RedisDown


@pytest.fixture
def settings_redis(server):
    """Everything that reads REDIS_URL, pointed at this test's server."""
    common_redis.client.cache_clear()
    with override_settings(REDIS_URL=server.url):
        yield
        common_redis.client().close()
    common_redis.client.cache_clear()


def test_a_link_ends_with_its_loop(settings_redis, server):
    async def scenario():
        assert common_redis.link() is common_redis.link()
        return await common_redis.link().execute("CLIENT", "ID")

    first, second = asyncio.run(scenario()), asyncio.run(scenario())
    assert first != second
    with redis_py.Redis.from_url(server.url) as client:
        assert len(client.client_list()) == 1


def test_in_threads_scripts_get_the_run_id_of_each_new_server(settings_redis, server, echo):
    before = common_redis.run_script(echo, ["key"], ["arg"])
    server.kill()
    server.start()
    after = common_redis.run_script(echo, ["key"], ["arg"])
    assert before[0::2] == after[0::2] == [b"key", b"arg"]
    assert before[1] != after[1] == common_redis.run_id_now()


def test_in_threads_an_outage_is_redis_down_at_once(settings_redis, server, echo):
    common_redis.run_script(echo, ["key"], ["arg"])
    server.stop()
    began = time.monotonic()
    with pytest.raises(RedisDown):
        common_redis.run_script(echo, ["key"], ["arg"])
    assert time.monotonic() - began < 1
