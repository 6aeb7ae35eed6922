"""The diff of two states: every leaf, only leaves, bounded."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkpoints.diff import MAX_PATHS, Members, difference, difference_of

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab.[", max_size=3)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.", max_size=2), inner, max_size=3)
)
STATES = st.dictionaries(st.text("abc", max_size=2), VALUES, max_size=4)


def text(value: Any) -> bytes:
    return json.dumps(value).encode()


def leaves(value: Any, path: tuple[object, ...] = ()) -> dict[tuple[object, ...], str]:
    if isinstance(value, dict | list) and value:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {place: leaf for key, child in pairs for place, leaf in leaves(child, (*path, key)).items()}
    return {path: json.dumps(value)} if path else {}


@given(STATES, STATES)
def test_every_leaf_that_differs_is_named_once(before: Any, after: Any) -> None:
    found = difference(text(before), text(after))
    old, new = leaves(before), leaves(after)
    named = len(found["added"]) + len(found["removed"]) + len(found["changed"])
    differing = {place for place in old.keys() | new.keys() if old.get(place) != new.get(place)}
    assert (named > 0) == bool(differing)
    assert named <= len(differing)
    assert len({*found["added"], *found["removed"], *found["changed"]}) == named


@given(STATES)
def test_a_state_does_not_differ_from_itself_otherwise_written(state: Any) -> None:
    assert difference(text(state), json.dumps(state, indent=1).encode()) == {"added": [], "removed": [], "changed": []}


@given(st.lists(STATES, min_size=2, max_size=6))
def test_what_was_learnt_in_one_comparison_misleads_none_after_it(states: list[Any]) -> None:
    before = Members(text(states[0]))
    for earlier, later in pairwise(states):
        after = Members(text(later))
        assert difference_of(before, after) == difference(text(earlier), text(later))
        assert all(len(later[key]) == length for key, length in after.lengths.items())
        before = after


def test_a_list_that_grows_is_counted_once() -> None:
    states = [Members(text({"log": [[]] * length, "same": [1, 2], "n": length})) for length in (3, 3, 5, 9)]
    states[0].lengths["same"] = 2
    for before, after in pairwise(states):
        difference_of(before, after)
    assert [state.lengths for state in states[2:]] == [{"log": 5, "same": 2}, {"log": 9, "same": 2}]
    states[2].lengths["log"] = 50  # what is known is not counted again
    assert difference_of(states[2], states[3])["added"][0] == "log[50]"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": {"b": [{"c": 1}]}}, {"a": {"b": [{"c": 2}]}}, {"changed": ["a.b[0].c"]}),
        ({}, {"x.y": 1, 'q"': 2, "": 3}, {"added": ['["x.y"]', '["q\\""]', '[""]']}),
        ({"a": [1]}, {"a": {"0": 1}}, {"changed": ["a"]}),
        ({"a": {}}, {"a": {"b": 1}}, {"removed": ["a"], "added": ["a.b"]}),
        ({"a": [1, 2]}, {"a": []}, {"added": ["a"], "removed": ["a[0]", "a[1]"]}),
        ({"a": 1}, {"a": True}, {"changed": ["a"]}),
        ({"a": [[1], 2]}, {"a": [[1], 2, {"b": [3]}]}, {"added": ["a[2].b[0]"]}),
    ],
)
def test_paths_read_as_one_would_write_them(before: Any, after: Any, expected: dict[str, list[str]]) -> None:
    assert difference(text(before), text(after)) == {"added": [], "removed": [], "changed": [], **expected}


def test_numbers_are_compared_by_exact_value() -> None:
    changed = difference(b'{"a": 1.0, "b": 0.1234567890123456789}', b'{"a": 1e0, "b": 0.1234567890123456788}')
    assert changed["changed"] == ["b"]


@pytest.mark.parametrize("extra", [0, 1])
def test_a_diff_is_bounded(extra: int) -> None:
    found = difference(b"{}", text({"list": [0] * (MAX_PATHS + extra)}))
    assert len(found["added"]) == MAX_PATHS
    assert found.get("truncated", False) is bool(extra)
