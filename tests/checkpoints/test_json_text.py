"""What is JSON we take, where it is wrong, and when two texts say the same."""

import json

import orjson
import pytest

from checkpoints.json_text import metadata_terms, same_value, term
from snapstate_project.common import json_text
from snapstate_project.common.json_text import BadJSON, check

CODE = {"history": [{"role": "tool", "content": 'x = {"a": [1, 2]}\n' * 300}]}
HIDDEN = b"[" * 149 + b"]" * 149


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (b'{"t": [1, NaN]}', "state.t[1]"),
        (b'{"a": {"b": -Infinity}}', "state.a.b"),
        (b'{"x": 1, "y": 1e400}', "state.y"),
        (b'{"a": {"t": "\\ud83d"}}', "state.a.t"),
        (b'{"a": {"b": 1}, "x.y": 01}', 'state["x.y"]'),
        (rb'{"q\"": 1e999}', r'state["q\""]'),
        (rb'{"\u0061": 1e999}', "state.a"),
        (b'{"": 1e999}', 'state[""]'),
        (b'{"a": {"": [1e999]}}', 'state.a[""][0]'),
        (b'{"big": ' + b"9" * 400 + b"}", "state.big"),
        (b'{"v": ' + b"[" * 100 + b"]" * 100 + b"}", "state"),
        (b'{"v": ' + b"[" * 100_000, "state"),
    ],
)
def test_the_place_of_a_fault_is_named(text: bytes, path: str) -> None:
    with pytest.raises(BadJSON) as caught:
        check(text, "state")
    assert caught.value.path[: len(path) + 100].startswith(path)


@pytest.mark.parametrize("text", [b'{"v":' + b"[" * 99 + b"]" * 99 + b"}", b'{"a":' * 100 + b"1" + b"}" * 100])
def test_a_hundred_levels_are_taken(text: bytes) -> None:
    check(text, "state")


@pytest.mark.parametrize("text", [orjson.dumps(CODE), json.dumps(CODE).encode(), json.dumps(CODE, indent=2).encode()])
def test_brackets_in_strings_are_not_looked_at_one_by_one(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "_depth_of", lambda _text: pytest.fail("the whole text was walked"))
    assert check(text, "state") == CODE


@pytest.mark.parametrize(
    "fill", ["", "x" * 5_000, "é" * 5_000, "{[" * 2_500], ids=["short", "long", "not ASCII", "code"]
)
@pytest.mark.parametrize("space", [b"", b" "], ids=["compact", "spaced"])
@pytest.mark.parametrize("deep", [HIDDEN, b"[" * 1_000 + b"]" * 1_000], ids=["150", "1000"])
def test_a_deep_member_behind_another_of_its_name_is_found(fill: str, space: bytes, deep: bytes) -> None:
    text = b'{"fill":%b%b,"a":%b,"a":1}' % (space, json.dumps(fill).encode(), deep)
    with pytest.raises(BadJSON, match="nested deeper than 100"):
        check(text, "state")


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (b'{"a":1,"b":[1.0,1e0]}', b'{ "b":[1,1], "a":1.0 }', True),
        (b"[1]", b"[true]", False),
        (b"[0]", b"[false]", False),
        (b"[9007199254740993]", b"[9007199254740992.0]", False),
        (b"[0.1234567890123456789]", b"[0.1234567890123456788]", False),
        (b'["\\u00e9"]', '["é"]'.encode(), True),
        ('["é"]'.encode(), '["e\u0301"]'.encode(), False),
        (b"[[],{}]", b"[{},[]]", False),
        (b'{"a":1,"a":2}', b'{"a":2}', True),
        (b"[-0.0]", b"[0]", True),
    ],
)
def test_same_value(left: bytes, right: bytes, same: bool) -> None:
    assert same_value(left, right) is same


def test_metadata_is_searched_by_strings_and_by_the_text_of_the_rest() -> None:
    terms = metadata_terms(b'{"n": 1.0, "s": "1.0", "t": true, "z": null, "o": {}, "l": []}')
    assert terms == sorted(term(*pair) for pair in (("n", "1.0"), ("s", "1.0"), ("t", "true"), ("z", "null")))
