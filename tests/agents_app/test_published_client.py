"""The published snapstate-sdk 1.0.2 registers and lists agents as it always did."""

import asyncio
from datetime import datetime

import pytest

from tests.clients.published import sdk


@pytest.fixture
def client(base_url, key):
    with sdk.SnapStateClient(api_key=key, base_url=base_url) as client:
        yield client


def test_it_registers_and_lists_agents(client):
    made = client.register_agent(
        "bot", "Bot", description="Searches", capabilities=["search"], metadata={"model": "opus", "version": "2.0"}
    )
    assert (made.agent_id, made.name, made.description) == ("bot", "Bot", "Searches")
    assert (made.capabilities, made.metadata, made.last_seen_at) == (
        ["search"],
        {"model": "opus", "version": "2.0"},
        None,
    )
    assert datetime.fromisoformat(made.created_at).tzinfo
    assert client.list_agents() == [made]


def test_it_registers_again_without_losing_what_it_leaves_out(client):
    client.register_agent("bot", "Bot", capabilities=["search"], metadata={"model": "opus"})
    again = client.register_agent("bot", "Bot 2")
    assert (again.name, again.capabilities, again.metadata) == ("Bot 2", ["search"], {"model": "opus"})


def test_it_does_so_asynchronously(base_url, key):
    async def run():
        async with sdk.SnapStateClient(api_key=key, base_url=base_url) as client:
            made = await client.async_register_agent("bot", "Bot")
            return made, await client.async_list_agents()

    made, listed = asyncio.run(run())
    assert listed == [made]


def test_its_saves_are_sights_of_the_agent(client, intake):
    client.register_agent("bot", "Bot")
    saved = client.save("wf", 1, {"n": 1}, agent_id="bot")
    intake()
    assert client.list_agents()[0].last_seen_at == saved.created_at


def test_it_hears_why_an_agent_is_refused(client):
    with pytest.raises(sdk.ValidationError, match="agent_id"):
        client.register_agent("not an id", "Bot")
