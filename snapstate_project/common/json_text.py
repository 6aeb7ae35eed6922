"""A client's own JSON as opaque text: judged here, never re-serialised."""

import json
import re
from typing import Any

import orjson

MAX_DEPTH = 100
SHORT = 4096
TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_CONTAINERS = {dict, list}
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
    if _may_be_deep(text) and _deeper_than(value, MAX_DEPTH):
        raise BadJSON(name, TOO_DEEP)
    return value


def _may_be_deep(text: bytes) -> bool:
    """Whether it has brackets enough; only in a short text is it quicker to count them than to walk the value."""
    return len(text) > SHORT or text.count(b"{") + text.count(b"[") > MAX_DEPTH


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        children: list[Any] = []
        for parent in level:
            children += parent.values() if type(parent) is dict else parent
        if _CONTAINERS.isdisjoint(map(type, children)):
            return False
        level = [child for child in children if type(child) in _CONTAINERS]
    return True


def path_at(text: str, position: int, name: str) -> str:
    """The path of the innermost value around a character position, as far as the text before it tells."""
    stack: list[str | int] = []
    key = ""
    for token in _TOKEN.finditer(text, 0, max(position, 1)):
        mark = token.group()
        if mark in "{[":
            stack.append("" if mark == "{" else 0)
        elif mark in "}]":
            del stack[-1:]
        elif mark == ":" and stack:
            stack[-1] = key
        elif mark == "," and stack:
            stack[-1] = stack[-1] + 1 if isinstance(stack[-1], int) else ""
        elif mark[0] == '"':
            key = mark[1:-1]
    return name + "".join(join(part) for part in stack[:MAX_DEPTH] if part != "")


def join(part: str | int) -> str:
    """One more part of a path: `.b`, `[0]`, or `["x.y"]` for keys that would read as something else."""
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _PLAIN_KEY.fullmatch(part) else f"[{json.dumps(part, ensure_ascii=False)}]"
