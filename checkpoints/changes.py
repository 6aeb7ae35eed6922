"""The values at the paths of a diff, as they were written: numbers keep their digits, long values are cut."""

import json
import re
from typing import Any, NamedTuple

from checkpoints.diff import difference

LONGEST_SHOWN = 500
MISSING = object()
_PART = re.compile(r'\.?([^.\[\]"]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')


class Change(NamedTuple):
    """One leaf; before or after is None where there was nothing, or where values were not asked for."""

    kind: str
    path: str
    before: str | None
    after: str | None


class Number(str):
    """A number's text as it was sent."""

    __slots__ = ()


def changes(before: bytes, after: bytes, *, with_values: bool) -> tuple[list[Change], bool]:
    """What differs between two states, in the order added, removed, changed; and whether there is more than is told."""
    found = difference(before, after)
    old, new = (exact(before), exact(after)) if with_values else (MISSING, MISSING)
    listed = [
        Change(kind, path, at(old, path) if kind != "added" else None, at(new, path) if kind != "removed" else None)
        for kind in ("added", "removed", "changed")
        for path in found[kind]
    ]
    return listed, bool(found.get("truncated"))


def exact(text: bytes) -> Any:
    return json.loads(text, parse_int=Number, parse_float=Number)


def at(value: Any, path: str) -> str | None:
    for part in _PART.finditer(path):
        key, index, quoted = part.groups()
        try:
            value = value[int(index)] if index is not None else value[json.loads(quoted) if quoted else key]
        except (KeyError, IndexError, TypeError):
            return None
    return None if value is MISSING else shown(value)


def shown(value: Any) -> str:
    text = value if isinstance(value, Number) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
