"""What the session asks of the server: every step under the etag before it, and with its writer's name."""

import asyncio
import json
from typing import Any

import pytest

from snapstate_sdk import ConnectionFailedError, SnapStateClient, ValidationError
from snapstate_sdk.adapters.openai_agents import SnapStateSession

AT = "2026-11-29T18:33:11.123Z"
HISTORY = "/workflows/openai-agents~chat"


@pytest.fixture
def run(server):
    """An act on a session of its own, with what it sent."""

    def acted(act, **options):
        async def whole():
            async with SnapStateClient("snp_" + "0" * 32, server.url, timeout=1, deadline=2) as client:
                return await act(SnapStateSession("chat", client, **options))

        return asyncio.run(whole())

    return acted


@pytest.fixture
def saved_at(reply):
    def make(step):
        fields = {"workflow_id": "x", "step": step, "etag": f'"e{step}"', "created_at": AT, "size_bytes": 2}
        return reply(201, {"checkpoint_id": f"cp_x_{step:03}", **fields})

    return make


@pytest.fixture
def head_at(reply):
    def make(step):
        fields = dict.fromkeys(("agent_id", "expires_at", "ttl_seconds", "keep_last", "label", "metadata"))
        totals = {"total_checkpoints": step, "size_bytes": 2, "pinned": False, "tier": "live", "status": "active"}
        head = {"latest_step": step, "etag": f'"e{step}"', "started_at": AT, "last_activity_at": AT}
        return reply(200, {"workflow_id": "x", **fields, **totals, **head})

    return make


@pytest.fixture
def page(reply):
    def make(first, *states):
        more: Any = {"label": None, "metadata": {}, "agent_id": None, "etag": '"e"', "created_at": AT, "size_bytes": 2}
        found = [{"checkpoint_id": "cp", "step": first + n, "state": state, **more} for n, state in enumerate(states)]
        body = {"workflow_id": "x", "checkpoints": found, "total": len(found), "has_more": False, "next_cursor": None}
        return reply(200, body)

    return make


def sent(server):
    posts = [seen for seen in server.seen if seen.method == "POST"]
    guards = ("If-Match", "If-None-Match")
    return [(json.loads(post.body), {k: post.headers[k] for k in guards if k in post.headers}) for post in posts]


def test_a_session_begins_only_where_there_is_none_and_goes_on_under_its_etag(server, run, refused, saved_at):
    server.script = [refused(404, "NOT_FOUND"), saved_at(0), saved_at(1)]

    async def act(session):
        await session.add_items([{"role": "user", "content": "a"}])
        await session.add_items([{"role": "user", "content": "a"}])

    run(act, agent_id="me")
    (first, none), (second, guard) = sent(server)
    assert (first["step"], none, second["step"], guard) == (0, {"If-None-Match": "*"}, 1, {"If-Match": '"e0"'})
    assert first["state"] == second["state"] == {"items": [{"role": "user", "content": "a"}]}
    assert first["metadata"]["writer"] != second["metadata"]["writer"]
    assert first["agent_id"] == "me"


def test_a_lost_answer_is_asked_for_again_under_the_same_name(server, run, refused, hang_up, saved_at):
    server.script = [refused(404, "NOT_FOUND"), hang_up, saved_at(0)]
    run(lambda session: session.add_items([{"role": "user", "content": "a"}]))
    assert server.seen[1].body == server.seen[2].body


def test_who_was_slower_looks_again_and_adds_below(server, run, refused, head_at, saved_at):
    server.script = [head_at(3), refused(409, "CONFLICT", existing=None), head_at(4), saved_at(5)]
    run(lambda session: session.add_items([{"role": "user", "content": "a"}]))
    assert [(body["step"], guard["If-Match"]) for body, guard in sent(server)] == [(4, '"e3"'), (5, '"e4"')]


def test_what_cannot_be_saved_is_not_taken_for_saved(server, run, refused, head_at, saved_at, hang_up):
    server.script = [head_at(3), saved_at(4), *[refused(400, "VALIDATION_ERROR")], head_at(4), saved_at(5)]

    async def act(session):
        await session.add_items([{"role": "user", "content": "a"}])
        with pytest.raises(ValidationError):
            await session.add_items([{"role": "user", "content": "b"}])
        await session.add_items([{"role": "user", "content": "c"}])

    run(act)
    assert [(body["step"], guard["If-Match"]) for body, guard in sent(server)] == [
        (4, '"e3"'), (5, '"e4"'), (5, '"e4"')
    ]  # fmt: skip


def test_a_few_items_are_read_from_the_end(server, run, head_at, page):
    server.script = [head_at(120), page(71, {"items": [1, 2]}, {"gone": 1}), page(21, {"items": [3, 4, 5]})]
    assert run(lambda session: session.get_items(3)) == [4, 5, 1]
    assert [seen.path for seen in server.seen[1:]] == [
        f"{HISTORY}/replay?from_step=71&to_step=120&limit=1000",
        f"{HISTORY}/replay?from_step=21&to_step=70&limit=1000",
    ]


def test_a_pop_says_that_the_last_item_went_and_tries_again_when_another_came(
    server, run, refused, head_at, page, saved_at
):
    lost = refused(409, "CONFLICT", existing=None)
    read = page(0, {"items": [1, 2]}), page(0, {"items": [1, 2]}, {"items": [3]})
    server.script = [head_at(0), read[0], lost, head_at(1), read[1], saved_at(2)]
    assert run(lambda session: session.pop_item()) == 3
    assert [(body["step"], body["state"]) for body, _ in sent(server)] == [(1, {"gone": 1}), (2, {"gone": 1})]


def test_nothing_is_asked_for_no_items(server, run):
    run(lambda session: session.add_items([]))
    assert run(lambda session: session.get_items(0)) == []
    assert server.seen == []


def test_a_line_that_stays_dead_is_an_error_with_a_type(server, run, hang_up):
    server.always = hang_up
    with pytest.raises(ConnectionFailedError):
        run(lambda session: session.get_items())
