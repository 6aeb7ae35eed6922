"""What adapters make of names and values: any name is a workflow id of its own, any value comes back as it was."""

import itertools

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from snapstate_sdk.adapters.naming import checked_prefix, workflow_id
from snapstate_sdk.adapters.packing import Packing, is_json
from snapstate_sdk.adapters.places import REMEMBERED, Place, Remembered, Slots
from snapstate_sdk.adapters.shares import ROOM, shares

NAMES = ["", " ", "a", "a~b", "a~", "~", "%", "a%00007e", "\x00", "\x9f", "\ud800"]
READABLE = ["\u00e9", "e\u0301", "研究-🤖", ".", "a/b"]
LONG = ["x" * 96, "x" * 97, "x" * 5000, "~" * 14, "🤖" * 97, "%sha256." + "0" * 64]


class Backwards(JsonPlusSerializer):
    """A serializer of one's own."""

    def dumps_typed(self, obj):
        kind, data = super().dumps_typed(obj)
        return kind, data[::-1]

    def loads_typed(self, data):
        return super().loads_typed((data[0], data[1][::-1]))


def test_every_name_has_a_workflow_id_that_is_valid_and_its_own():
    every = NAMES + READABLE + LONG
    ids = [workflow_id("p" * 40, *parts) for parts in itertools.product(every, every, ["checkpoints"])]
    assert len(set(ids)) == len(ids)
    assert max(map(len, ids)) <= 255
    assert all(not any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in each) for each in ids)


def test_a_plain_name_stands_there_to_read():
    place = Place("langgraph", "thread-1", "child:1f2e|grand:0")
    assert place.checkpoints == "langgraph~thread-1~child:1f2e|grand:0~checkpoints"
    assert place.writes == "langgraph~thread-1~child:1f2e|grand:0~writes"
    assert place.namespaces == "langgraph~thread-1~namespaces"


@pytest.mark.parametrize("prefix", ["", "x" * 41, "a~b", "a%b", "a\n"])
def test_a_prefix_that_would_blur_names_is_refused(prefix):
    with pytest.raises(ValueError, match="prefix"):
        checked_prefix(prefix)


@pytest.mark.parametrize(
    "value", [None, True, 0, -(2**63), 2**63 - 1, 1.5, "", "é\x00🤖", [], {}, {"a": [{"b": None}]}]
)
def test_what_json_says_exactly_stands_as_it_is(value):
    packing = Packing(JsonPlusSerializer())
    assert packing.pack(value) is value
    assert packing.unpack(value) is value


@pytest.mark.parametrize(
    "value",
    [
        2**63,
        float("nan"),
        float("inf"),
        b"a",
        (1,),
        {1},
        {1: 2},
        {"$type": "x"},
        {"a": {"$type": "x"}},
        [(1,)],
        "\ud800",
    ],
)
def test_what_json_would_change_does_not(value):
    assert not is_json(value)


@pytest.mark.parametrize("kind", [type("Text", (str,), {}), type("Number", (int,), {}), type("Some", (dict,), {})])
def test_a_subclass_is_not_taken_for_what_it_looks_like(kind):
    assert not is_json(kind())
    assert not is_json([kind()])


def test_bytes_go_as_base64_with_their_type():
    packed = Packing(JsonPlusSerializer()).pack(b"\x00\xff")
    assert packed == {"$type": "bytes", "$base64": "AP8="}
    assert Packing(JsonPlusSerializer()).unpack(packed) == b"\x00\xff"


@pytest.mark.parametrize("value", [None, "text", 1, {"a": 1}, {"$type": "x"}])
def test_with_a_serializer_of_ones_own_nothing_goes_past_it(value):
    packing = Packing(Backwards())
    packed = packing.pack(value)
    assert set(packed) == {"$type", "$base64"}
    assert packing.unpack(packed) == value


def test_shares_are_whole_in_order_and_fit():
    things = ["x" * (ROOM // 3)] * 5 + ["é" * ROOM] + ["y"]
    split = list(shares(things))
    assert [thing for share in split for thing in share] == things
    assert [len(share) for share in split] == [2, 2, 1, 1, 1]
    assert list(shares([])) == []


def test_a_step_is_given_out_once():
    slots = Slots()
    assert slots.take("wf") is None
    assert [slots.take_from("wf", 7), slots.take("wf"), slots.take_from("wf", 3), slots.take("wf")] == [7, 8, 9, 10]
    assert slots.take("other") is None


def test_what_is_remembered_is_bounded():
    known: Remembered[int] = Remembered()
    for n in range(REMEMBERED + 3):
        known.put(n, n)
    assert [known.get(n) for n in (0, 2, 3, REMEMBERED + 2)] == [None, None, 3, REMEMBERED + 2]
    known.forget(3)
    known.forget("never known")
    assert known.get(3) is None
