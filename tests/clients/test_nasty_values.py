"""Nasty values go in by one client and come out of every other: to the byte, or as that client's language reads them.

The docs of the clients promise: raw interfaces keep the text; Python's values are as `json` has them (numbers beyond a
double are none, whole numbers are exact), JavaScript's as `JSON.parse` (every number is a double).
"""

import json
from typing import Any

import pytest

from tests.clients.columns import COLUMNS, Column, McpText, RawHttp
from tests.hostile.test_state import KEPT

VALUES = {
    **KEPT,
    "nothing but names": '{"": {"": ""}, " ": 0, "\\"": [true, false, null]}',
    "long": json.dumps({"a": "é" * 5_000}),
}
READERS = [column for column in COLUMNS if column is not McpText]  # one way of reading over MCP


def as_python(value: Any) -> Any:
    """Comparable, and `1`, `1.0` and `true` are three things."""
    if isinstance(value, dict):
        return {name: as_python(member) for name, member in value.items()}
    if isinstance(value, list):
        return [as_python(member) for member in value]
    return (type(value).__name__, repr(value))


def as_javascript(value: Any) -> Any:
    """Every number is a double, and `-0` is written as `0`."""
    if isinstance(value, dict):
        return {name: as_javascript(member) for name, member in value.items()}
    if isinstance(value, list):
        return [as_javascript(member) for member in value]
    return (bool, value) if isinstance(value, bool) else float(value) + 0.0 if isinstance(value, int | float) else value


def means(text: str, kind: str) -> Any:
    return (as_javascript if kind == "javascript" else as_python)(json.loads(text))


def same(told: str, text: str, column: type[Column]) -> bool:
    return told == text if column.exact else bool(means(told, column.kind) == means(text, column.kind))


@pytest.mark.slow
@pytest.mark.parametrize("writer", COLUMNS, ids=lambda column: column.__name__)
def test_what_goes_in_by_one_client_comes_out_of_every_other(base_url: str, key: str, writer: type[Column]) -> None:
    texts = {f"wf-{at}": text for at, text in enumerate(VALUES.values())}
    names = dict(zip(texts, VALUES, strict=True))
    writer(base_url, key).save_all(texts)
    stored = RawHttp(base_url, key).read_all(list(texts))
    assert [names[wf] for wf, kept in stored.items() if not all(same(each, texts[wf], writer) for each in kept)] == []
    for reader in READERS:
        told = reader(base_url, key).read_all(list(texts))
        wrong = [names[wf] for wf in texts if not all(map(same, told[wf], stored[wf], [reader] * 2))]
        assert wrong == [], f"into {writer.__name__}, out of {reader.__name__}"
