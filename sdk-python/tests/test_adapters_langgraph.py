"""What the saver asks of the server: under which guard, at which step, and what it makes of a conflict."""

import asyncio
import json
from typing import Any

import pytest
from langgraph.checkpoint.base import empty_checkpoint

from snapstate_sdk import ConflictError, ConnectionFailedError, ForbiddenError
from snapstate_sdk.adapters import checkpoints, records
from snapstate_sdk.adapters.langgraph import SnapStateSaver
from snapstate_sdk.adapters.packing import Packing

AT = "2026-11-29T18:33:11.123Z"
CONFIG: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
HISTORY = "/workflows/langgraph~t~~checkpoints"


@pytest.fixture
def new(refused):
    return refused(404, "NOT_FOUND")


@pytest.fixture
def taken(refused):
    return refused(409, "CONFLICT", existing={"checkpoint_id": "cp_x_005", "etag": '"e5"'})


@pytest.fixture
def saver(client):
    return SnapStateSaver(client, agent_id="me", ttl_seconds=60)


@pytest.fixture
def saved_at(reply):
    def make(step):
        fields = {"workflow_id": "x", "step": step, "etag": f'"e{step}"', "created_at": AT, "size_bytes": 2}
        return reply(201, {"checkpoint_id": f"cp_x_{step:03}", "diff_from_previous": None, **fields})

    return make


@pytest.fixture
def head_at(reply):
    def make(step, label, **metadata):
        fields = dict.fromkeys(("agent_id", "expires_at", "ttl_seconds", "keep_last"))
        times = {"started_at": AT, "last_activity_at": AT}
        totals = {"total_checkpoints": step, "size_bytes": 2, "pinned": False, "tier": "live", "status": "active"}
        head = {"latest_step": step, "label": label, "etag": f'"e{step}"', "metadata": metadata}
        return reply(200, {"workflow_id": "x", **fields, **times, **totals, **head})

    return make


@pytest.fixture
def page(reply):
    def make(*found):
        more: Any = {
            "metadata": {},
            "agent_id": None,
            "etag": '"e"',
            "created_at": AT,
            "size_bytes": 2,
            "status": "active",
        }
        checkpoints = [{"checkpoint_id": "cp", "step": s, "label": la, "state": st, **more} for s, la, st in found]
        body = {"workflow_id": "x", "checkpoints": checkpoints, "total": len(found), "has_more": False}
        return reply(200, {**body, "next_cursor": None})

    return make


def checkpoint(name, **values):
    return {**empty_checkpoint(), "id": name, "channel_values": values}


def sent(server):
    """Of each save its body and its guard."""
    posts = [seen for seen in server.seen if seen.method == "POST"]
    guards = ("If-Match", "If-None-Match")
    return [(json.loads(post.body), {k: post.headers[k] for k in guards if k in post.headers}) for post in posts]


def test_a_thread_begins_only_where_there_is_none_and_goes_on_under_its_etag(server, saver, new, saved_at):
    server.script = [new, saved_at(0), saved_at(1)]
    at = saver.put(CONFIG, checkpoint("a", x=1), {"step": -1}, {})
    saver.put(at, checkpoint("b", x=2), {"step": 0}, {})
    (first, none), (second, guard) = sent(server)
    assert [seen.path for seen in server.seen] == [HISTORY, "/checkpoints", "/checkpoints"]
    assert (first["step"], first["label"], none) == (0, "a", {"If-None-Match": "*"})
    assert (second["step"], second["label"], guard) == (1, "b", {"If-Match": '"e0"'})
    assert (second["metadata"]["parent"], second["agent_id"]) == ("a", "me")
    assert server.seen[-1].headers["X-Checkpoint-TTL"] == "60"


def test_who_was_slower_looks_again_and_takes_the_next_step(server, saver, head_at, taken, page, saved_at):
    server.script = [head_at(3, "c"), taken, page(), head_at(5, "e"), saved_at(6)]
    saver.put(CONFIG, checkpoint("f"), {}, {})
    assert [(body["step"], guard) for body, guard in sent(server)] == [
        (4, {"If-Match": '"e3"'}),
        (6, {"If-Match": '"e5"'}),
    ]
    assert server.seen[2].path == f"{HISTORY}/replay?label=f&limit=1000"


def test_what_an_earlier_try_has_saved_is_not_saved_again(server, saver, head_at, taken, page):
    one = checkpoint("d", x=1)
    state = checkpoints.state_of(Packing(saver.serde), one, {})
    server.script = [head_at(3, "c"), taken, page((4, "d", state))]
    assert saver.put(CONFIG, one, {}, {})["configurable"]["checkpoint_id"] == "d"
    assert len(sent(server)) == 1


def test_a_checkpoint_put_again_replaces_itself(server, saver, head_at, saved_at):
    server.script = [head_at(3, "c", first=2, newest={"id": "c", "step": 3}), saved_at(3)]
    saver.put(CONFIG, checkpoint("c", x=2), {}, {})
    ((body, guard),) = sent(server)
    assert (body["step"], guard) == (3, {"If-Match": '"e3"'})
    assert (body["metadata"]["first"], body["metadata"]["newest"]) == (2, {"id": "c", "step": 3})


def test_an_older_id_leaves_the_newest_where_it_is(server, saver, head_at, saved_at):
    server.script = [head_at(3, "m", newest={"id": "m", "step": 3}), saved_at(4)]
    saver.put(CONFIG, checkpoint("b"), {}, {})
    assert sent(server)[0][0]["metadata"]["newest"] == {"id": "m", "step": 3}


def test_writes_take_a_step_of_their_own_without_a_guard(server, saver, head_at, taken, saved_at):
    server.script = [head_at(3, "a"), taken, head_at(5, "a"), saved_at(6), saved_at(7)]
    at = {"configurable": {**CONFIG["configurable"], "checkpoint_id": "a"}}
    saver.put_writes(at, [("c", 1), ("__interrupt__", 2)], "task", "path")
    saver.put_writes(at, [("c", 1)], "other")
    assert [(body["step"], guard) for body, guard in sent(server)] == [(4, {}), (6, {}), (7, {})]
    body = sent(server)[1][0]
    assert (body["label"], body["workflow_id"]) == ("a", "langgraph~t~~writes")
    assert (body["state"]["task_id"], body["state"]["task_path"]) == ("task", "path")
    assert [write["index"] for write in body["state"]["writes"]] == [0, -3]


def test_no_writes_ask_nothing(server, saver):
    saver.put_writes({"configurable": {**CONFIG["configurable"], "checkpoint_id": "a"}}, [], "task")
    assert server.seen == []


def test_a_namespace_is_noted_before_it_begins(server, saver, new, saved_at):
    server.script = [new, new, saved_at(0), saved_at(0)]
    saver.put({"configurable": {"thread_id": "t", "checkpoint_ns": "in:1"}}, checkpoint("a"), {}, {})
    (noted, _), (body, _) = sent(server)
    assert (noted["workflow_id"], noted["state"]) == ("langgraph~t~namespaces", {"checkpoint_ns": "in:1"})
    assert body["workflow_id"] == "langgraph~t~in:1~checkpoints"


def test_who_always_loses_is_told_in_the_end(server, saver, head_at, taken, page):
    server.script = [head_at(3, "c"), *[taken, page(), head_at(5, "e")] * records.TRIES]
    with pytest.raises(ConflictError, match="others were quicker"):
        saver.put(CONFIG, checkpoint("f"), {}, {})
    assert len(sent(server)) == records.TRIES


def test_a_lost_answer_is_asked_for_again_with_the_same_words(server, saver, new, hang_up, saved_at):
    server.script = [new, hang_up, saved_at(0)]
    saver.put(CONFIG, checkpoint("a"), {}, {})
    first, second = (seen.body for seen in server.seen[1:])
    assert first == second


def test_what_is_not_there_is_none_and_erased_already(server, saver, refused, page):
    server.always = refused(404, "NOT_FOUND")
    assert saver.get_tuple(CONFIG) is None
    assert list(saver.list(CONFIG)) == []
    server.script = [page()]
    saver.delete_thread("t")
    assert next(seen.path for seen in server.seen if seen.method == "DELETE") == HISTORY


def test_other_errors_pass_through(server, impatient, refused, hang_up):
    saver = SnapStateSaver(impatient)
    server.always = refused(403, "FORBIDDEN")
    with pytest.raises(ForbiddenError):
        saver.put(CONFIG, checkpoint("a"), {}, {})
    server.always = hang_up
    with pytest.raises(ConnectionFailedError):
        saver.get_tuple(CONFIG)
    with pytest.raises(ConnectionFailedError):
        asyncio.run(saver.aget_tuple(CONFIG))
