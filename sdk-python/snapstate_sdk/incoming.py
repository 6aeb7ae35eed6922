"""What comes in: an answer's JSON; beside each state and metadata stands its text, exactly as it was received."""

import json
import re
from typing import Any

RAW = frozenset({"state", "metadata"})
INSIDE = frozenset({"latest_checkpoint", "checkpoints", "workflows"})
SPACE = re.compile(r"[ \t\n\r]*")

_decode = json.JSONDecoder().raw_decode


def parsed(content: bytes) -> dict[str, Any]:
    """An answer's object; beside `state` there is `state_json`, beside `metadata` `metadata_json` (None for null).

    Raises ValueError for what is not one whole JSON object.
    """
    text = content.decode()
    try:
        found, end = _object(text, 0)
    except IndexError:
        raise ValueError("the text ends too early") from None
    if _skip(text, end) != len(text):
        raise ValueError("the text goes on after the object")
    return found


def _skip(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    return match.end() if match else at


def _after(text: str, at: int, mark: str) -> int:
    """Where the next thing begins after `mark`, which must be there."""
    at = _skip(text, at)
    if text[at] != mark:
        raise ValueError(f"{mark} expected at {at}")
    return _skip(text, at + 1)


def _object(text: str, at: int) -> tuple[dict[str, Any], int]:
    found: dict[str, Any] = {}
    at = _after(text, at, "{")
    while text[at] != "}":
        name, at = _decode(text, at)
        start = _after(text, at, ":")
        found[name], end = _value(text, start, name)
        if name in RAW:
            found[f"{name}_json"] = None if found[name] is None else text[start:end]
        at = _next(text, end, "}")
    return found, at + 1


def _array(text: str, at: int) -> tuple[list[Any], int]:
    found: list[Any] = []
    at = _after(text, at, "[")
    while text[at] != "]":
        value, end = _object(text, at)
        found.append(value)
        at = _next(text, end, "]")
    return found, at + 1


def _next(text: str, at: int, close: str) -> int:
    """Where the next member begins, or the closing bracket stands."""
    at = _skip(text, at)
    return at if text[at] == close else _after(text, at, ",")


def _value(text: str, at: int, name: str) -> tuple[Any, int]:
    if name in INSIDE and text[at] == "{":
        return _object(text, at)
    if name in INSIDE and text[at] == "[":
        return _array(text, at)
    return _decode(text, at)
