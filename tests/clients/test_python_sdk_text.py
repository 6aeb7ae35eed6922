"""Whatever JSON a state is: our Python SDK reads what `json` reads, keeps its text, and sends only what is JSON."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from snapstate_sdk.errors import UnsendableValueError
from snapstate_sdk.incoming import parsed
from snapstate_sdk.outgoing import checked, encoded

TEXT = some.text(some.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = TEXT | some.sampled_from(["state", "metadata", "checkpoints", "latest_checkpoint", "workflows", "a.b", ""])
SCALARS = some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | TEXT
VALUES = some.recursive(SCALARS, lambda one: some.lists(one, max_size=4) | some.dictionaries(NAMES, one, max_size=4))
STATES = some.dictionaries(NAMES, VALUES, max_size=5)
STYLES: some.SearchStrategy[dict[str, Any]] = some.builds(
    dict, indent=some.none() | some.integers(0, 3), ensure_ascii=some.booleans()
)
SPACE = some.text(" \t\r\n", max_size=3)
ODD = [float("nan"), float("inf"), "\ud83d", {1: "a"}, {"\udc00": 1}, {"b": {None: 1}}, object(), {1}, b"bytes"]


@given(STATES, STATES, STYLES, SPACE, some.booleans())
def test_an_answer_is_read_as_json_reads_it_and_its_text_is_kept(
    state: dict[str, Any], metadata: dict[str, Any], style: dict[str, Any], space: str, within: bool
) -> None:
    state_text, metadata_text = json.dumps(state, **style), json.dumps(metadata, **style)
    inner = f'{{{space}"step":{space}1{space},"state":{state_text}{space},{space}"metadata":{space}{metadata_text}}}'
    whole = f'{{"latest_checkpoint":{inner},"checkpoints":{space}[{inner},{space}{inner}]}}' if within else inner
    found = parsed(f"{space}{whole}{space}".encode())
    for one in [found["latest_checkpoint"], *found["checkpoints"]] if within else [found]:
        assert (one.pop("state_json"), one.pop("metadata_json")) == (state_text, metadata_text)
    assert found == json.loads(whole)


@given(STATES)
def test_what_is_sent_says_the_same(state: dict[str, Any]) -> None:
    text = encoded(state, "state")
    assert json.loads(text) == state
    assert checked(text, "state_json") == text


@given(VALUES, some.sampled_from(ODD), some.data())
def test_one_odd_value_anywhere_is_refused_by_its_place(value: Any, odd: Any, data: some.DataObject) -> None:
    state, place = {"a": value}, "state.a"
    holder: Any = state
    key: Any = "a"
    while isinstance(holder[key], (dict, list)) and holder[key] and data.draw(some.booleans()):
        holder = holder[key]
        key = data.draw(some.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))
        place = ""  # deeper: that it is refused is enough, its place is told by other tests
    holder[key] = odd
    with pytest.raises(UnsendableValueError) as caught:
        encoded(state, "state")
    assert caught.value.details[0]["path"].startswith(place or "state.a")


@given(STATES, STYLES, some.data())
def test_an_answer_that_was_cut_is_never_taken_for_a_whole_one(
    state: dict[str, Any], style: dict[str, Any], data: some.DataObject
) -> None:
    whole = ('{"step": 1, "state": ' + json.dumps(state, **style) + ', "etag": "e"}').encode()
    with pytest.raises(ValueError, match=r"."):
        parsed(whole[: data.draw(some.integers(0, len(whole) - 1))])
