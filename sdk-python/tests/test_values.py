"""What JSON cannot say is refused by its place before it is sent; text goes and comes to the byte."""

import json
from enum import IntEnum
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import pytest

from snapstate_sdk import SnapStateError, UnsendableTypeError, UnsendableValueError, ValidationError
from snapstate_sdk.incoming import parsed

NAN, INFINITY = float("nan"), float("inf")
CIRCULAR: dict[str, Any] = {}
CIRCULAR["self"] = CIRCULAR
DEEP: dict[str, Any] = {}
for _ in range(100_000):
    DEEP = {"a": DEEP}

REFUSED = [
    ({"x": NAN}, "state.x"),
    ({"a": [1, {"b": -INFINITY}]}, "state.a[1].b"),
    ({"x.y": (NAN,)}, 'state["x.y"][0]'),
    ({1: "a", "1": "b"}, "state"),
    ({"deep": [[{None: 1}]]}, "state.deep[0][0]"),
    ({"b": {True: 1}}, "state.b"),
    ({(1, 2): 1}, "state"),
    ({"t": "\ud83d"}, "state.t"),
    ({"t": {"u": ["ok", "\ud83d\ude00"]}}, "state.t.u[1]"),
    ({"a": {"\udc00": 1}}, "state.a"),
    (CIRCULAR, "state"),
    (DEEP, "state"),
    ({"s": {1, 2}}, "state.s"),
    ({"b": b"bytes"}, "state.b"),
]


@pytest.mark.parametrize(("state", "place"), REFUSED, ids=range(len(REFUSED)))
def test_what_json_cannot_say_is_refused_before_it_is_sent(server, client, state, place):
    for act in (client.save, lambda *args: client.save(*args, metadata={"m": 1})):
        with pytest.raises(UnsendableValueError, match=r"^state") as caught:
            act("wf", 1, state)
        assert caught.value.details[0]["path"].startswith(place)
    assert server.seen == []


def test_a_place_in_metadata_and_in_an_id_is_named_as_well(server, client):
    for place, more in (("metadata.x", {"metadata": {"x": NAN}}), ("label", {"label": "\ud83d"})):
        with pytest.raises(ValueError, match=rf"^{place}: "):
            client.save("wf", 1, {}, **more)
    with pytest.raises(ValueError, match=r"^workflow_id: "):
        client.save("\ud83d", 1, {})
    assert server.seen == []


def test_what_json_has_no_word_for_is_a_type_error_too(client):
    with pytest.raises(TypeError, match=r"^state\.when\[0\]: object is nothing that JSON knows"):
        client.save("wf", 1, {"when": [object()]})
    assert issubclass(UnsendableTypeError, UnsendableValueError)
    assert issubclass(UnsendableValueError, (ValueError, ValidationError))


class Three(IntEnum):
    THREE = 3


class Text(str):
    __slots__ = ()


SENT = [
    {"big": 2**200, "small": -(2**70), "float": 0.1, "zero": -0.0, "exp": 1e300},
    {"é研究🤖\u2028": "\0\x7f\uffff"},
    {"": "", "a.b": [], "o": {}, "n": None, "t": True},
    {"tuple": (1, (2,)), "enum": Three.THREE, Text("text"): Text("text")},
    {"zeros": [0] * 1000},
    MappingProxyType({"a": 1}),
]


@pytest.mark.parametrize("state", SENT, ids=range(len(SENT)))
def test_everything_else_goes_out_as_it_is(server, client, saved, state):
    server.script = [saved]
    client.save("wf", 1, state)
    assert json.loads(server.seen[0].body)["state"] == json.loads(json.dumps(dict(state)))


TEXTS = [
    '{ "a" :\t1.0,\n "b": 1E2, "c": -0, "d": 0.1234567890123456789, "e": 9007199254740993 }',
    r'{"\u0061\/": "\ud83e\udd16", "é": "\u0000"}',
    '{"a": 1, "a": {"state": 2}, "state": {"metadata": {}}}',
    "  {}  ",
    '{"x": ' + "[" * 99 + "]" * 99 + "}",
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("kind", [str, str.encode], ids=["str", "bytes"])
def test_ready_text_is_spliced_and_never_written_anew(server, client, saved, text, kind):
    server.script = [saved]
    client.save("wf", 1, state_json=kind(text), metadata_json=kind(text))
    assert server.seen[0].body == (
        b'{"workflow_id":"wf","step":1,"state":' + text.encode() + b',"metadata":' + text.encode() + b"}"
    )


@pytest.mark.parametrize(
    "text",
    ["", "[]", "1", '{"a": NaN}', '{"a": 1', '{}, "step": 7', '{}} {"x": {}', "{'a': 1}", b"\xff{}", "\ufeff{}", "null",
     '{"a": "\ud83d"}', '{"a":' + "[" * 100_000, '{"a": 1}{"b": 2}'],
    ids=lambda text: repr(text)[:20],
)  # fmt: skip
def test_text_that_is_not_one_object_is_refused(server, client, text):
    with pytest.raises(UnsendableValueError, match=r"^state_json: "):
        client.save("wf", 1, state_json=text)
    assert server.seen == []


def test_a_state_is_given_once(client):
    for arguments in ({}, {"state": {}, "state_json": "{}"}):
        with pytest.raises(UnsendableValueError, match=r"^state: "):
            client.save("wf", 1, **arguments)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_the_text_of_an_answer_is_there_as_it_was_received(server, client, reply, text):
    one = f'{{"step": 1 , "metadata":{text},"checkpoint_id":"cp", "new": [{{"state": 1}}], "state" :{text}}}'
    server.script = [
        reply(200, f'{{"workflow_id": "wf", "total_checkpoints": 1,\n"latest_checkpoint":\t{one} }}'.encode()),
        reply(200, f'{{"workflow_id":"wf","total":2,"checkpoints":[{one},{one}],"has_more":false}}'.encode()),
        reply(200, f'{{"workflow_id":"wf",{one[1:]}'.encode()),
    ]
    found = [client.resume("wf").latest_checkpoint, *client.replay("wf").checkpoints, client.get("cp")]
    wanted = text.strip()
    assert [(one.state_json, one.metadata_json) for one in found] == [(wanted, wanted)] * 4
    assert [(one.state, one.metadata, one.workflow_id) for one in found] == [
        (json.loads(text), json.loads(text), "wf")
    ] * 4


@pytest.mark.parametrize("text", ["", " ", "{", '{"a"', '{"a":', '{"a":1', '{"a":1,', "[]", "{}x", '{"a" 1}', "{,}"])
def test_what_is_no_whole_object_is_a_value_error(text):
    with pytest.raises(ValueError, match=r"."):
        parsed(text.encode())


@pytest.mark.parametrize("odd", ["a/b", "a%2Fb", "a?b#c", "...", "研究-🤖", " a", "a\\b", "%", "+", "a/resume", "é"])
def test_ids_are_one_part_of_a_path_whatever_stands_in_them(server, client, reply, odd):
    server.always = reply(404, {"error": {"code": "NOT_FOUND", "message": "no"}})
    for act in (client.resume, client.get, client.get_workflow, client.erase, client.analytics_workflow):
        with pytest.raises(SnapStateError):
            act(odd)
    for seen in server.seen:
        assert odd in unquote(seen.path)
        assert seen.path.isascii()
        assert seen.path.count("/") == 2 + seen.path.endswith("/resume") + seen.path.startswith("/analytics")


@pytest.mark.parametrize("etag", ["a\nb", "a\r\nX-Checkpoint-TTL: 1", "é", "\0", ""])
def test_headers_that_http_cannot_carry_are_refused(server, client, etag):
    for act in (
        lambda: client.save("wf", 1, {}, if_match=etag),
        lambda: client.save("wf", 1, {}, if_none_match=etag),
        lambda: client.get_if_changed("cp_wf_001", etag),
    ):
        with pytest.raises(UnsendableValueError, match=r"^if_(none_)?match: |^etag: "):
            act()
    assert server.seen == []


@pytest.mark.parametrize("no_id", ["", ".", "..", "\ud83d"])
def test_ids_that_http_would_rewrite_are_refused(server, client, no_id):
    acts = (client.resume, client.get, client.get_workflow, client.erase, client.checkpoints, client.get_agent,
            client.get_webhook, client.analytics_workflow, client.replay, client.diff)  # fmt: skip
    for act in acts:
        with pytest.raises(UnsendableValueError, match=r"^(workflow|checkpoint|agent|webhook)_id: "):
            list(act(no_id))
    assert server.seen == []


def test_a_body_is_what_was_meant(server, client, saved):
    server.script = [saved]
    client.save("wf", 1, {"é": 2**80}, "l", {"m": None}, "a", status="failed", error=ValueError("x" * 3000), diff=False)
    body = json.loads(server.seen[0].body)
    assert body.pop("error") == {"type": "ValueError", "message": "x" * 2000}
    assert body == {
        "workflow_id": "wf", "step": 1, "state": {"é": 2**80}, "label": "l", "metadata": {"m": None}, "agent_id": "a",
        "status": "failed",
    }  # fmt: skip
    assert server.seen[0].headers["Prefer"] == "return=minimal"


@pytest.mark.parametrize("no_text", [None, 7, b"wf", UUID(int=1)])
def test_an_id_or_etag_of_another_type_is_refused_by_its_name(server, client, no_text):
    for name, call in {
        "workflow_id": lambda: client.resume(no_text),
        "checkpoint_id": lambda: client.get(no_text),
        "etag": lambda: client.get_if_changed("cp_wf_001", no_text),
    }.items():
        with pytest.raises(UnsendableTypeError, match=f"{name}: must be a string, not {type(no_text).__name__}"):
            call()
    assert server.seen == []
