"""Hostile inputs, keeping state exactly: what is taken comes back byte for byte, the rest is refused by its place."""

import json
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from snapstate_sdk import ValidationError

from tests.clients import javascript, published
from tests.clients.python_sdk import Twin
from tests.hostile.reading import body, checkpoint, everywhere, place_of, save, saved, send, states, workflow

Settle = Callable[[], None]


def arrays(depth: int) -> str:
    """A state whose deepest array is at that level; the state itself is the first."""
    return '{"a":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


def objects(depth: int) -> str:
    return '{"a":' * (depth - 1) + "{}" + "}" * (depth - 1)


KEYS = ["user_id", "userId", "API_KEY", "https://Ex.com/A", "a.b", "a[0]", "", "__proto__", "constructor"]
KEPT = {
    "NUL": r'{"out": "a\u0000b"}',
    "numbers": '{"id": 9007199254740993, "f": 0.1234567890123456789, "e": 1E2, "z": -0.0, "o": 1.0}',
    "numbers near nothing": '{"a": 1e-400, "b": 1e-99999999999999999999, "c": 0E99999999999999999999, "d": -0}',
    "whole numbers beyond 64 bits": '{"a": 123456789012345678901234567890, "b": -9223372036854775809}',
    "empty array and object": '{"findings": [], "o": {}}',
    "a hundred arrays": arrays(100),
    "a hundred objects": objects(100),
    "line breaks": '{\n  "a": 1\n}',
    "spaces of every kind": '{ "a"\t:\r\n[ 1 ,2 ]\n}',
    "escapes": r'{"\u0061\/": "\"\\\b\f\n\r\t\u00e9\ud83e\udd16", "\u2028": "\uFFFF"}',
    "raw letters": '{"é\u0301研究🤖": "\u2028\u200f\ufeff\x7f\uffff"}',
    "names twice": '{"a": 1, "b": {"c": 1, "c": [2]}, "a": {"d": 3}}',
    "brackets in strings, and a name twice": json.dumps({"a": ["[" * 300, '"{' * 300]})[:-1] + ',"a":1}',
    "odd keys": json.dumps({name: {name: 1} for name in KEYS}),
    "nothing": "{}",
}
REFUSED = {
    "NaN": ('{"x": NaN}', "state.x"),
    "minus Infinity": ('{"a": [1, -Infinity]}', "state.a[1]"),
    "1e400": ('{"a": {"x": 1e400}}', "state.a.x"),
    "a whole number beyond a double": ('{"x": 1%s}' % ("0" * 309), "state.x"),
    "a lone high surrogate": (r'{"t": "\ud83d"}', "state.t"),
    "a lone low surrogate": (r'{"t": {"u": "\udc00\ud83d"}}', "state.t.u"),
    "a lone surrogate in a name": (r'{"t": {"\ud83d": 1}}', "state.t"),
    "a raw line break in a string": ('{"t": "a\nb"}', "state.t"),
    "a leading zero": ('{"x": 01}', "state.x"),
    "a comma too many": ('{"x": [1,]}', "state.x[0]"),
    "a comment": ('{"x": 1 /* one */}', "state.x"),
    "single quotes": ("{'x': 1}", "state"),
    **{f"arrays {depth} deep": (arrays(depth), "state") for depth in (101, 1_000, 100_000)},
    **{f"objects {depth} deep": (objects(depth), "state") for depth in (101, 1_000, 100_000)},
    "150 deep, behind a name that comes again": ('{"a":' + "[" * 149 + "]" * 149 + ',"a":1}', "state"),
    "101 deep in all, behind a name that comes again": (
        objects(50).replace("{}", '{"b":' + arrays(51) + r',"\u0062":"]"}'),
        "state",
    ),
    "arrays that never end": ('{"a":' + "[" * 500_000, "state.a"),
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_is_taken_comes_back_byte_for_byte(api: httpx.Client, wf: str, settle: Settle, text: str) -> None:
    saved(save(api, wf, 1, text, metadata=text))
    first = saved(save(api, wf, 2, text, metadata=text))
    settle()
    for shown in everywhere(api, wf, 2).values():
        assert (bytes(shown.state).decode(), bytes(shown.metadata).decode()) == (text, text)
        assert shown.etag == first.headers["ETag"]
    again = saved(save(api, wf, 2, text + " ", metadata=" " + text), 200)
    assert again.json()["diff_from_previous"] == {"added": [], "removed": [], "changed": []}
    assert states(api, wf, 2) == {text}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_the_published_sdk_reads_it_as_the_same_json_value(
    api: httpx.Client, wf: str, sdk: Any, settle: Settle, text: str
) -> None:
    saved(save(api, wf, 1, text))
    settle()
    read = [sdk.resume(wf).latest_checkpoint, *sdk.replay(wf).checkpoints, sdk.get(f"cp_{wf}_001")]
    assert [checkpoint.state for checkpoint in read] == [json.loads(text)] * 3


@pytest.mark.parametrize(("text", "place"), REFUSED.values(), ids=REFUSED)
def test_the_rest_is_refused_by_its_place_and_breaks_no_other_step(
    api: httpx.Client, wf: str, text: str, place: str
) -> None:
    assert place_of(save(api, wf, 1, text)).startswith(place)
    assert place_of(save(api, wf, 1, metadata=text)).startswith(place.replace("state", "metadata", 1))
    saved(save(api, wf, 2, '{"good": 1}'))
    assert states(api, wf, 2) == {'{"good": 1}'}
    assert len(api.get(workflow(wf, "replay")).json()["checkpoints"]) == 1


@pytest.mark.parametrize("field", ["label", "workflow_id", "agent_id", "error"])
@pytest.mark.parametrize("text", [r'"\ud83d"', '"a\nb"', '"\x01"', "NaN"])
def test_the_small_fields_are_as_strict(api: httpx.Client, wf: str, field: str, text: str) -> None:
    value = f'{{"type": "t", "message": {text}}}' if field == "error" else text
    assert place_of(send(api, body(wf, 1, "{}", **{field: value}))).partition(".")[0] == field


def test_nul_in_label_metadata_and_error_goes_the_whole_way(
    api: httpx.Client, wf: str, settle: Settle, intake: Callable[[], None]
) -> None:
    more = {"label": r'"a\u0000b\\0"', "metadata": f'{{"{wf}\\u0000": "v\\u0000"}}', "status": '"failed"'}
    saved(save(api, wf, 1, error=r'{"type": "t\u0000", "message": "m\u0000"}', **more))
    settle()
    got = api.get(checkpoint(wf, 1)).json()
    assert (got["label"], got["error"]) == ("a\0b\\0", {"type": "t\0", "message": "m\0"})
    intake()
    for filters in (f"label=a%00b%5C0&q={wf}", f"metadata.{wf}%00=v%00"):
        assert [found["label"] for found in api.get(f"/workflows?{filters}").json()["workflows"]] == ["a\0b\\0"]
    assert len(api.get(workflow(wf, "replay") + "?label=a%00b%5C0").json()["checkpoints"]) == 1


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ("1", "1.0", 200),
        ("1", "1e0", 200),
        ("1", "true", 409),
        ("1.0", "0.1E1", 200),
        ("9007199254740993", "9007199254740992.0", 409),
        ("9007199254740993", "9007199254740993.0", 200),
        ("0.1234567890123456789", "0.1234567890123456788", 409),
        ("1e-99999999999999999999", "10e-100000000000000000000", 200),
        ("1e-99999999999999999999", "1e-99999999999999999998", 409),
        ("0e99999999999999999999", "-0.0", 200),
        ("[]", "{}", 409),
        ('"é"', r'"\u00e9"', 200),
        ('"é"', '"e\u0301"', 409),
        ("null", "0", 409),
        ('{"b":1,"a":2}', '{"a":2,"b":1}', 200),
        ('{"a":1,"a":2}', '{"a":2}', 200),
    ],
)
def test_the_same_json_value_is_a_replay(
    api: httpx.Client, wf: str, settle: Settle, first: str, second: str, status: int
) -> None:
    etag = saved(save(api, wf, 1, f'{{"v":{first}}}')).headers["ETag"]
    settle()
    again = saved(save(api, wf, 1, f'{{"v": {second}}}'), status)
    assert status == 409 or again.headers["ETag"] == etag
    assert {shown.etag for shown in everywhere(api, wf, 1).values()} == {etag}
    changed = saved(save(api, wf, 2, f'{{"v":{second}}}')).json()["diff_from_previous"]
    assert any(changed.values()) is (status == 409)


def test_a_huge_key_over_many_zeros_is_answered_in_well_under_a_second(api: httpx.Client, wf: str) -> None:
    key, began = "k" * 20_000, time.process_time()
    zeros = ",".join("0" * 400_000)
    for step, state in ((1, zeros), (1, zeros), (1, zeros + " "), (2, zeros[:-1] + "1"), (3, "")):
        answer = save(api, wf, step, f'{{"{key}":[{state}]}}')
        assert answer.status_code in (200, 201)
        assert len(answer.content) < 512 * 1024
    assert time.process_time() - began < 2.5  # of this process: five saves, client and server


def test_a_hundred_levels_with_a_large_leaf_are_compared_in_good_time(api: httpx.Client, wf: str) -> None:
    for step, last in ((1, 0), (2, 1)):
        began = time.process_time()
        saved(save(api, wf, step, '{"a":' + "[" * 99 + "0," * 400_000 + str(last) + "]" * 99 + "}"))
    assert time.process_time() - began < 1


def test_odd_keys_are_untouched_in_paths_of_a_diff(api: httpx.Client, wf: str) -> None:
    save(api, wf, 1)
    added = save(api, wf, 2, json.dumps(dict.fromkeys(KEYS, 1))).json()["diff_from_previous"]["added"]
    plain = ["user_id", "userId", "API_KEY", "https://Ex.com/A", "a.b", "a[0]", "", "__proto__", "constructor"]
    quoted = {name: f'["{name}"]' for name in ("https://Ex.com/A", "a.b", "a[0]", "")}
    assert added == [quoted.get(name, name) for name in plain]


def test_odd_keys_are_untouched_in_an_agents_capabilities_and_metadata(api: httpx.Client) -> None:
    agent = {"agent_id": "a", "name": "A", "capabilities": KEYS, "metadata": dict.fromkeys(KEYS, 1)}
    answer = api.post("/agents", json=agent)
    assert answer.status_code == 201
    assert agent.items() <= answer.json().items()


def test_odd_keys_are_untouched_through_our_js_sdk(base_url: str, key: str, api: httpx.Client, wf: str) -> None:
    odd = json.dumps({name: {name: 1} for name in KEYS}, separators=(",", ":"))
    assert javascript.tell("test/live/values.mjs", wf, of=[odd], base_url=base_url, key=key) == [[odd]]
    assert states(api, f"{wf}-0", 1) == {odd}


def test_the_published_sdk_sends_nan_and_is_refused(wf: str, sdk: Any) -> None:
    with pytest.raises(published.sdk.ValidationError, match=r"state\.x"):
        sdk.save(wf, 1, {"x": float("nan")})


@pytest.mark.parametrize("state", [{"x": float("nan")}, {1: "a", "1": "b"}, {"t": "\ud83d"}, {"x": float("-inf")}])
def test_our_python_sdk_raises_before_it_sends(python_sdk: Twin, wf: str, state: Any) -> None:
    with pytest.raises(ValueError, match=r"^state"):
        python_sdk.save(wf, 1, state)
    assert python_sdk.replay(wf).checkpoints == []


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_our_python_sdk_keeps_text_to_the_byte_and_values_equal(
    python_sdk: Twin, wf: str, settle: Settle, text: str
) -> None:
    python_sdk.save(wf, 1, json.loads(text), ttl_seconds=60)
    python_sdk.save(wf, 2, state_json=text, metadata_json=text, ttl_seconds=60)
    settle()
    dealt, raw = python_sdk.checkpoints(wf)
    assert (dealt.state, raw.state, raw.state_json, raw.metadata_json) == (*[json.loads(text)] * 2, text, text)
    resumed = python_sdk.resume(wf)
    assert (resumed.state, resumed.state_json) == (json.loads(text), text)


@pytest.mark.parametrize(("text", "place"), REFUSED.values(), ids=REFUSED)
def test_our_python_sdk_lets_nothing_through_that_is_refused(python_sdk: Twin, wf: str, text: str, place: str) -> None:
    with pytest.raises(ValidationError) as caught:
        python_sdk.save(wf, 1, state_json=text)
    assert caught.value.details[0]["path"].startswith(("state_json", place))
    assert python_sdk.replay(wf).checkpoints == []
