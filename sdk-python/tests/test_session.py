"""The workflow session: where it begins, what it guards with, and what it makes of an exception."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from snapstate_sdk import ConflictError, ConnectionFailedError, SnapStateClient


def saved_as(reply, step, etag):
    return reply(
        201,
        {"checkpoint_id": f"cp_wf_{step:03d}", "workflow_id": "wf", "step": step, "etag": etag, "size_bytes": 2,
         "created_at": "2026-11-29T18:33:11.123Z"},
    )  # fmt: skip


@pytest.fixture
def new(refused):
    return refused(404, "NOT_FOUND")


@pytest.fixture
def begun(reply):
    head = {
        "checkpoint_id": "cp_wf_007",
        "step": 7,
        "label": "read",
        "state": {"notes": ["a"]},
        "metadata": {"m": 1},
        "agent_id": None,
        "etag": '"1-7-x"',
        "created_at": "2026-11-29T18:33:11.123Z",
        "size_bytes": 15,
    }
    return reply(200, {"workflow_id": "wf", "status": "active", "total_checkpoints": 7, "latest_checkpoint": head})


def sent(server):
    return [(json.loads(seen.body), seen.headers) for seen in server.seen if seen.method == "POST"]


def test_a_new_workflow_begins_at_step_one_and_only_if_it_is_new(server, client, reply, new):
    server.script = [new, saved_as(reply, 1, '"e1"'), saved_as(reply, 2, '"e2"')]
    with client.workflow("wf", agent_id="a", ttl_seconds=60) as wf:
        assert (wf.resumed, wf.step, wf.state, wf.status) == (False, 0, {}, "active")
        wf.checkpoint("planned", {"plan": 1})
        wf.state["plan"] = 2
        wf.checkpoint("changed")
        assert (wf.resumed, wf.step, wf.state, wf.etag, wf.label) == (False, 2, {"plan": 2}, '"e2"', "changed")
    (first, first_headers), (second, second_headers) = sent(server)
    assert server.seen[0].path == "/workflows/wf/resume?agent_id=a"
    assert (first["step"], first["state"], first["label"], first["agent_id"]) == (1, {"plan": 1}, "planned", "a")
    assert (second["step"], second["state"], second["label"], second["agent_id"]) == (2, {"plan": 2}, "changed", "a")
    assert (first_headers["If-None-Match"], first_headers.get("If-Match")) == ("*", None)
    assert (second_headers.get("If-None-Match"), second_headers["If-Match"]) == (None, '"e1"')
    assert first_headers["X-Checkpoint-TTL"] == second_headers["X-Checkpoint-TTL"] == "60"


def test_a_workflow_that_was_begun_goes_on_after_its_head(server, client, reply, begun):
    server.script = [begun, saved_as(reply, 8, '"e8"'), saved_as(reply, 9, '"e9"')]
    with client.workflow("wf") as wf:
        assert (wf.resumed, wf.step, wf.state, wf.metadata, wf.label) == (True, 7, {"notes": ["a"]}, {"m": 1}, "read")
        wf.checkpoint("noted", {"notes": ["a", "b"]}, metadata={"m": 2})
        wf.complete()
        assert wf.status == "completed"
    (first, headers), (last, _) = sent(server)
    assert (first["step"], headers["If-Match"], first["metadata"]) == (8, '"1-7-x"', {"m": 2})
    assert (last["step"], last["status"], last["state"]) == (9, "completed", {"notes": ["a", "b"]})


def test_another_writer_is_noticed(server, client, begun, refused):
    server.script = [begun, refused(409, "CONFLICT", existing={"checkpoint_id": "cp_wf_008", "etag": '"o"'})]
    with pytest.raises(ConflictError) as caught, client.workflow("wf", on_error="fail") as wf:
        wf.checkpoint("mine", {})
    assert caught.value.existing == {"checkpoint_id": "cp_wf_008", "etag": '"o"'}
    assert (wf.step, wf.etag, wf.state) == (7, '"1-7-x"', {"notes": ["a"]})
    assert len(sent(server)) == 1  # an error of ours is not recorded


def test_a_save_in_doubt_may_be_made_again(server, reply, begun, hang_up):
    server.script = [begun, hang_up, saved_as(reply, 8, '"e8"')]
    with SnapStateClient("snp_x", server.url, max_retries=1) as client, client.workflow("wf") as wf:
        with pytest.raises(ConnectionFailedError):
            wf.checkpoint("noted", {"n": 1})
        assert (wf.step, wf.state) == (7, {"notes": ["a"]})
        wf.checkpoint("noted", {"n": 1})
    first, again = sent(server)
    assert first == again


@pytest.mark.parametrize(
    ("on_error", "status"), [("ignore", None), ("record", "active"), ("fail", "failed")]
)  # fmt: skip
def test_an_exception_leaves_the_block_and_is_recorded_as_asked_for(server, client, reply, begun, on_error, status):
    server.script = [begun, saved_as(reply, 8, '"e8"')]
    with pytest.raises(KeyError, match="gone"), client.workflow("wf", on_error=on_error):
        raise KeyError("gone")
    bodies = [body for body, _ in sent(server)]
    assert [(body["status"], body["error"], body["state"]) for body in bodies] == (
        [(status, {"type": "KeyError", "message": "'gone'"}, {"notes": ["a"]})] if status else []
    )


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_an_interrupt_is_no_failure_of_the_work(server, client, begun, interrupt):
    server.script = [begun]
    with pytest.raises(interrupt), client.workflow("wf", on_error="fail"):
        raise interrupt


@pytest.mark.parametrize("state", [{}, {"x": float("nan")}])
def test_what_could_not_be_recorded_hides_no_exception(server, client, begun, refused, state):
    server.script = [begun, refused(500, "INTERNAL_ERROR")]

    def work():
        with client.workflow("wf", on_error="fail") as wf:
            wf.state = state
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom") as caught:
        work()
    assert "SnapState could not record this" in caught.value.__notes__[0]


def test_an_exception_without_a_text_is_recorded_and_leaves_the_block(server, client, reply, begun):
    class MuteError(Exception):
        def __str__(self):
            raise AttributeError("no response")

    server.script = [begun, saved_as(reply, 8, '"e8"')]
    with pytest.raises(MuteError), client.workflow("wf", on_error="fail"):
        raise MuteError
    error = sent(server)[0][0]["error"]
    assert (error["type"], "MuteError object at" in error["message"]) == ("MuteError", True)


def test_a_failure_may_be_said(server, client, reply, begun):
    server.script = [begun, saved_as(reply, 8, '"e8"')]
    with client.workflow("wf") as wf:
        wf.fail({"type": "ToolDied", "message": "no answer"}, {"notes": []})
        assert (wf.status, wf.state) == ("failed", {"notes": []})
    assert sent(server)[0][0]["error"] == {"type": "ToolDied", "message": "no answer"}


def test_the_async_twin_does_the_same(server, reply, new):
    server.script = [new, saved_as(reply, 1, '"e1"'), saved_as(reply, 2, '"e2"'), saved_as(reply, 3, '"e3"')]

    async def work():
        async with (
            SnapStateClient("snp_x", server.url) as client,
            client.async_workflow("wf", agent_id="a", on_error="fail") as wf,
        ):
            await wf.checkpoint("one", {"n": 1})
            await wf.complete({"n": 2})
            raise ValueError("after all")

    with pytest.raises(ValueError, match="after all"):
        asyncio.run(work())
    bodies, headers = zip(*sent(server), strict=True)
    assert [body["status"] for body in bodies] == ["active", "completed", "failed"]
    assert [(one.get("If-None-Match"), one.get("If-Match")) for one in headers] == [
        ("*", None), (None, '"e1"'), (None, '"e2"'),
    ]  # fmt: skip


def test_the_async_twin_can_fail_and_hides_no_exception(server, reply, begun, refused):
    server.script = [begun, saved_as(reply, 8, '"e8"'), refused(500, "INTERNAL_ERROR")]

    async def work():
        async with (
            SnapStateClient("snp_x", server.url) as client,
            client.async_workflow("wf", on_error="record") as wf,
        ):
            await wf.fail(OSError("disk"))
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom") as caught:
        asyncio.run(work())
    assert caught.value.__notes__


def test_threads_that_share_a_session_take_turns(server, client, reply, begun):
    server.script = [begun, *(saved_as(reply, step, f'"e{step}"') for step in range(8, 14))]
    with client.workflow("wf") as wf, ThreadPoolExecutor(6) as threads:
        saved = list(threads.map(lambda n: wf.checkpoint(f"at {n}", {"n": n}), range(6)))
    guards = [(body["step"], headers["If-Match"]) for body, headers in sent(server)]
    assert guards == [(8, '"1-7-x"'), *((step, f'"e{step - 1}"') for step in range(9, 14))]
    assert (sorted(one.step for one in saved), wf.step) == ([*range(8, 14)], 13)


def test_tasks_that_share_a_session_take_turns(server, reply, begun):
    async def work():
        async with SnapStateClient("snp_x", server.url) as client, client.async_workflow("wf") as wf:
            return await asyncio.gather(*(wf.checkpoint(f"at {n}", {"n": n}) for n in range(3)))

    server.script = [begun, *(saved_as(reply, step, f'"e{step}"') for step in range(8, 11))]
    assert [one.step for one in asyncio.run(work())] == [8, 9, 10]
    assert [body["state"] for body, _ in sent(server)] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert [headers["If-Match"] for _, headers in sent(server)] == ['"1-7-x"', '"e8"', '"e9"']
