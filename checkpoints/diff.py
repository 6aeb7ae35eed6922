"""What changed between two states: paths of leaves, bounded, walking only what differs."""

from typing import Any

import msgspec
import orjson

from checkpoints.json_text import same_scalar
from snapstate_project.common.json_text import join

MAX_PATHS = 1_000
MAX_PATH_CHARACTERS = 262_144

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])
Difference = dict[str, Any]


class _Full(Exception):
    """Enough paths."""


class _Paths:
    def __init__(self) -> None:
        self.added: list[str] = []
        self.removed: list[str] = []
        self.changed: list[str] = []
        self.count = self.characters = 0

    def note(self, into: list[str], path: str) -> None:
        self.count += 1
        self.characters += len(path)
        if self.count > MAX_PATHS or self.characters > MAX_PATH_CHARACTERS:
            raise _Full
        into.append(path)


class Members:
    """A JSON object taken apart: each member as it was written, and how long those lists are that were counted."""

    __slots__ = ("lengths", "values")

    def __init__(self, text: bytes) -> None:
        self.values = _members.decode(text)
        self.lengths: dict[str, int] = {}


def difference(before: bytes, after: bytes) -> Difference:
    """Paths added, removed and changed from one state (JSON object text) to another.

    At most MAX_PATHS paths and MAX_PATH_CHARACTERS characters of them; beyond that `"truncated": True`.
    """
    return difference_of(Members(before), Members(after))


def difference_of(before: Members, after: Members) -> Difference:
    """The same of states that are taken apart already; `after` learns lengths, which spare the next comparison work."""
    paths = _Paths()
    answer: Difference = {"added": paths.added, "removed": paths.removed, "changed": paths.changed}
    try:
        _walk_members(before, after, "", paths)
    except _Full:
        answer["truncated"] = True
    return answer


def _walk(before: bytes, after: bytes, path: str, paths: _Paths, length: int | None = None) -> int | None:
    """Where both are lists, the length of `after`; `length` is that of `before`, if it is known."""
    kinds = before[:1], after[:1]
    if kinds == (b"[", b"["):
        return _walk_items(before, after, path, paths, length)
    if kinds == (b"{", b"{"):
        _walk_members(Members(before), Members(after), path, paths)
    elif b"{" in kinds or b"[" in kinds or not same_scalar(before, after):
        paths.note(paths.changed, path)
    return None


def _walk_members(before: Members, after: Members, path: str, paths: _Paths) -> None:
    old, new = before.values, after.values
    _note_empty_leaf(bool(old), bool(new), path, paths)
    for key, value in new.items():
        was, length = old.get(key), before.lengths.get(key)
        if was is None:
            _leaves(value, _below(path, key), paths.added, paths)
        elif was != value:
            length = _walk(bytes(was), bytes(value), _below(path, key), paths, length)
        if length is not None:
            after.lengths[key] = length
    for key in old:
        if key not in new:
            _leaves(old[key], _below(path, key), paths.removed, paths)


def _below(path: str, key: str) -> str:
    return path + join(key) if path else join(key).removeprefix(".")


def _walk_items(before: bytes, after: bytes, path: str, paths: _Paths, length: int | None) -> int:
    if after.startswith(b",", len(before) - 1) and after.startswith(before[:-1]):
        return _note_appended(length or len(_items.decode(before)), after[len(before) :], path, paths)
    old, new = _items.decode(before), _items.decode(after)
    _note_empty_leaf(bool(old), bool(new), path, paths)
    for index, value in enumerate(new):
        if index >= len(old):
            _leaves(value, f"{path}[{index}]", paths.added, paths)
        elif old[index] != value:
            _walk(bytes(old[index]), bytes(value), f"{path}[{index}]", paths)
    for index in range(len(new), len(old)):
        _leaves(old[index], f"{path}[{index}]", paths.removed, paths)
    return len(new)


def _note_appended(length: int, rest: bytes, path: str, paths: _Paths) -> int:
    """What states do most: the list goes on where it ended, so only `rest`, behind its comma, need be looked at."""
    more = _items.decode(b"[" + rest)
    for index, value in enumerate(more, length):
        _leaves(value, f"{path}[{index}]", paths.added, paths)
    return length + len(more)


def _note_empty_leaf(old: bool, new: bool, path: str, paths: _Paths) -> None:
    """An empty container is a leaf of its own: it goes when its first member comes, and the other way round."""
    if path and old != new:
        paths.note(paths.removed if new else paths.added, path)


def _leaves(value: msgspec.Raw, path: str, into: list[str], paths: _Paths) -> None:
    text = bytes(value)
    if text[:1] in (b"{", b"["):
        _note_leaves(orjson.loads(text), path, into, paths)
    else:
        paths.note(into, path)


def _note_leaves(value: Any, path: str, into: list[str], paths: _Paths) -> None:
    if not isinstance(value, (dict, list)) or not value:
        paths.note(into, path)
    elif isinstance(value, dict):
        for key, child in value.items():
            _note_leaves(child, path + join(key), into, paths)
    else:
        for index, child in enumerate(value):
            _note_leaves(child, f"{path}[{index}]", into, paths)
