"""A client's own JSON as opaque text: judged here, never re-serialised."""

import json
import re
from typing import Any

import msgspec
import orjson

MAX_DEPTH = 100
SHORT = 4096
TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_CONTAINERS = {dict, list}
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_OPENING = b"{["
_NO_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))
_PLAIN_KEY = re.compile(r'[^.\[\]"]+')


class BadJSON(Exception):
    """Text that is not the JSON we accept; `path` names the place, such as `state.a[0]`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def check(text: bytes, name: str) -> Any:
    """The parsed value of `text`, or BadJSON: syntax, UTF-8, numbers beyond a double, nesting above MAX_DEPTH."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        readable = text.decode("utf-8", "replace")
        message = TOO_DEEP if error.msg == "depth limit exceeded" else error.msg
        raise BadJSON(path_at(readable, error.pos, name), message) from None
    if _may_be_deep(text) and _is_too_deep(text, value):
        raise BadJSON(name, TOO_DEEP)
    return value


def _may_be_deep(text: bytes) -> bool:
    """Whether it has brackets enough; only in a short text is it quicker to count them than to walk the value."""
    return len(text) > SHORT or text.count(b"{") + text.count(b"[") > MAX_DEPTH


def _is_too_deep(text: bytes, value: Any) -> bool:
    """Also where another member of the same name has taken a deep one's place in the value: the text still has it."""
    depth, containers = _measured(value)
    if depth > MAX_DEPTH:
        return True
    if _is_all_of(text, value):
        return False
    # A chain that the value does not show has at least as many brackets that the value does not show either.
    unseen = text.count(b"{") + text.count(b"[") - containers
    return unseen > MAX_DEPTH - depth and _depth_of(text) > MAX_DEPTH


def _is_all_of(text: bytes, value: Any) -> bool:
    """Whether the value written anew is the text, so that nothing in it took another's place; much text has brackets
    in its strings, and this costs a tenth of leaving those out."""
    anew = orjson.dumps(value)
    if anew == text:
        return True
    try:
        return msgspec.json.format(text, indent=-1) == anew
    except RecursionError:
        return False


def _measured(value: Any) -> tuple[int, int]:
    """How deep it is, looked at to one level beyond MAX_DEPTH, and how many objects and arrays it has."""
    level, depth, containers = [value] if type(value) in _CONTAINERS else [], 0, 0
    while level and depth <= MAX_DEPTH:
        depth, containers = depth + 1, containers + len(level)
        children: list[Any] = []
        for parent in level:
            children += parent.values() if type(parent) is dict else parent
        found = not _CONTAINERS.isdisjoint(map(type, children))
        level = [child for child in children if type(child) in _CONTAINERS] if found else []
    return depth, containers


def _depth_of(text: bytes) -> int:
    depth = deepest = 0
    for mark in _STRING.sub(b"", text).translate(None, _NO_BRACKETS):
        depth += 1 if mark in _OPENING else -1
        deepest = max(deepest, depth)
    return deepest


def path_at(text: str, position: int, name: str) -> str:
    """The path of the innermost value around a character position, as far as the text before it tells."""
    stack: list[str | int | None] = []  # None: of an object whose next name has not come yet
    key = ""
    for token in _TOKEN.finditer(text, 0, max(position, 1)):
        mark = token.group()
        if mark in "{[":
            stack.append(None if mark == "{" else 0)
        elif mark in "}]":
            del stack[-1:]
        elif mark == ":" and stack:
            stack[-1] = key
        elif mark == "," and stack:
            stack[-1] = stack[-1] + 1 if isinstance(stack[-1], int) else None
        elif mark[0] == '"':
            key = _name_in(mark)
    return name + "".join(join(part) for part in stack[:MAX_DEPTH] if part is not None)


def _name_in(token: str) -> str:
    """As diffs spell it, unless its escapes are what is wrong."""
    try:
        return str(json.loads(token))
    except ValueError:
        return token[1:-1]


def join(part: str | int) -> str:
    """One more part of a path: `.b`, `[0]`, or `["x.y"]` for keys that would read as something else."""
    if isinstance(part, int):
        return f"[{part}]"
    if part.isidentifier() or _PLAIN_KEY.fullmatch(part):
        return f".{part}"
    return f"[{json.dumps(part, ensure_ascii=False)}]"
