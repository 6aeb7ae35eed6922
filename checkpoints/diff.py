"""What changed between two states: paths of leaves, bounded, walking only what differs."""

from collections.abc import Iterator
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
        self.characters = 0

    def note(self, into: list[str], path: str) -> None:
        self.characters += len(path)
        count = len(self.added) + len(self.removed) + len(self.changed)
        if count >= MAX_PATHS or self.characters > MAX_PATH_CHARACTERS:
            raise _Full
        into.append(path)


def difference(before: bytes, after: bytes) -> Difference:
    """Paths added, removed and changed from one state (JSON object text) to another.

    At most MAX_PATHS paths and MAX_PATH_CHARACTERS characters of them; beyond that `"truncated": True`.
    """
    paths = _Paths()
    answer: Difference = {"added": paths.added, "removed": paths.removed, "changed": paths.changed}
    try:
        _walk_members(before, after, "", paths)
    except _Full:
        answer["truncated"] = True
    return answer


def _walk(before: bytes, after: bytes, path: str, paths: _Paths) -> None:
    if before == after:
        return
    kinds = before[:1], after[:1]
    if kinds == (b"{", b"{"):
        _walk_members(before, after, path, paths)
    elif kinds == (b"[", b"["):
        _walk_items(before, after, path, paths)
    elif b"{" in kinds or b"[" in kinds or not same_scalar(before, after):
        paths.note(paths.changed, path)


def _walk_members(before: bytes, after: bytes, path: str, paths: _Paths) -> None:
    old, new = _members.decode(before), _members.decode(after)
    _note_empty_leaf(bool(old), bool(new), path, paths)
    for key, value in new.items():
        below = path + join(key) if path else join(key).removeprefix(".")
        if key not in old:
            _leaves(value, below, paths.added, paths)
        elif old[key] != value:
            _walk(bytes(old[key]), bytes(value), below, paths)
    for key in old:
        if key not in new:
            _leaves(old[key], path + join(key) if path else join(key).removeprefix("."), paths.removed, paths)


def _walk_items(before: bytes, after: bytes, path: str, paths: _Paths) -> None:
    old = _items.decode(before)
    if old and after.startswith(b",", len(before) - 1) and after.startswith(before[:-1]):
        _note_appended(len(old), after[len(before) :], path, paths)
        return
    new = _items.decode(after)
    _note_empty_leaf(bool(old), bool(new), path, paths)
    for index, value in enumerate(new):
        if index >= len(old):
            _leaves(value, f"{path}[{index}]", paths.added, paths)
        elif old[index] != value:
            _walk(bytes(old[index]), bytes(value), f"{path}[{index}]", paths)
    for index in range(len(new), len(old)):
        _leaves(old[index], f"{path}[{index}]", paths.removed, paths)


def _note_appended(count: int, rest: bytes, path: str, paths: _Paths) -> None:
    """What states do most: the list goes on where it ended, so only `rest`, behind its comma, need be looked at."""
    for index, value in enumerate(_items.decode(b"[" + rest), count):
        _leaves(value, f"{path}[{index}]", paths.added, paths)


def _note_empty_leaf(old: bool, new: bool, path: str, paths: _Paths) -> None:
    """An empty container is a leaf of its own: it goes when its first member comes, and the other way round."""
    if path and old != new:
        paths.note(paths.removed if new else paths.added, path)


def _leaves(value: msgspec.Raw, path: str, into: list[str], paths: _Paths) -> None:
    text = bytes(value)
    if text[:1] not in (b"{", b"["):
        paths.note(into, path)
        return
    for leaf in _leaf_paths(orjson.loads(text), path):
        paths.note(into, leaf)


def _leaf_paths(value: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict | list) or not value:
        yield path
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from _leaf_paths(child, path + join(key))
    else:
        for index, child in enumerate(value):
            yield from _leaf_paths(child, f"{path}[{index}]")
