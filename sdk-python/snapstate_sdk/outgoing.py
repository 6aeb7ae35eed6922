"""What goes out: values as JSON text, refused by their place where JSON cannot say them; ready text stays as it is."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any, NoReturn
from urllib.parse import quote, urlencode

from snapstate_sdk.errors import UnsendableTypeError, UnsendableValueError

DEPTH = 100  # as deep as the server takes
PLAIN_KEY = re.compile(r'[^.\[\]"\\\s]+')
SURROGATE = re.compile("[\ud800-\udfff]")
SCALARS = frozenset({str, int, float, bool, type(None)})

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


def encoded(value: Any, path: str) -> bytes:
    """`value` as JSON in UTF-8. Raises UnsendableValueError, a ValueError that names the place within `path`."""
    try:
        text = _encode(value).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise next(_faults(value, path), UnsendableValueError(path, str(error))) from None
    if isinstance(value, (dict, list, tuple)) and _has_odd_key(value):
        raise next(_faults(value, path))
    return text


def checked(text: str | bytes, path: str) -> bytes:
    """The text of one JSON object, as it is. Raises UnsendableValueError."""
    try:
        raw = text.encode() if isinstance(text, str) else bytes(text)
        value = _decode(raw.decode())
    except RecursionError:
        raise UnsendableValueError(path, "is nested too deeply") from None
    except ValueError as error:
        raise UnsendableValueError(path, f"must be the text of a JSON object: {error}") from None
    if not isinstance(value, dict):
        raise UnsendableValueError(path, "must be the text of a JSON object")
    return raw


def joined(members: Mapping[str, bytes | None]) -> bytes:
    """An object of values that are JSON text already; those that are None are left out."""
    given = (b'"%b":%b' % (name.encode(), text) for name, text in members.items() if text is not None)
    return b"{" + b",".join(given) + b"}"


def body(ready: Mapping[str, bytes | None] | None = None, /, **members: Any) -> bytes:
    """An object of the members that are not None; those in `ready` are JSON text already."""
    texts = {name: encoded(value, name) for name, value in members.items() if value is not None}
    return joined({**texts, **(ready or {})})


def segment(text: str, name: str) -> str:
    """An id as one part of a path. What HTTP clients would rewrite or drop is refused."""
    _must_be_text(text, name)
    if text in ("", ".", ".."):
        raise UnsendableValueError(name, f"must not be {text!r}")
    if SURROGATE.search(text):
        raise UnsendableValueError(name, "has a lone surrogate, which UTF-8 cannot say")
    return quote(text, safe="")


def header(text: str, name: str) -> str:
    """A value of a header: something that can be printed, in ASCII."""
    _must_be_text(text, name)
    if not (text and text.isascii() and text.isprintable()):
        raise UnsendableValueError(name, "must be printable ASCII")
    return text


def _must_be_text(value: object, name: str) -> None:
    """Who has no types checked learns which argument it is."""
    if not isinstance(value, str):
        raise UnsendableTypeError(name, f"must be a string, not {type(value).__name__}")


def query(**parameters: Any) -> str:
    """With its question mark; parameters that are None are left out. Names may be given by `**{"metadata.x": …}`."""
    given = {name: _parameter(value, name) for name, value in parameters.items() if value is not None}
    return "?" + urlencode(given, quote_via=quote, safe="") if given else ""


def _parameter(value: Any, name: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise UnsendableValueError(name, "needs a time zone")
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if SURROGATE.search(str(value)):
        raise UnsendableValueError(name, "has a lone surrogate, which UTF-8 cannot say")
    return str(value)


def _has_odd_key(value: Any) -> bool:
    """Whether a key is no string: JSON would silently make one of it. Lists of scalars are passed over by C alone."""
    stack: list[Any] = [value]
    while stack:
        here: Iterable[Any] = stack.pop()
        if isinstance(here, dict):
            if not all(isinstance(key, str) for key in here):
                return True
            here = here.values()
        if not SCALARS.issuperset(map(type, here)):
            stack += [below for below in here if isinstance(below, (dict, list, tuple))]
    return False


def _faults(value: Any, path: str, depth: int = 0) -> Iterator[UnsendableValueError]:
    """What JSON cannot say, in its order."""
    if depth > DEPTH:
        yield UnsendableValueError(path, f"is nested deeper than {DEPTH}, or contains itself")
    elif isinstance(value, dict):
        for key, below in value.items():
            if not isinstance(key, str):
                yield UnsendableValueError(path, f"names of members must be strings, not {key!r}")
            elif SURROGATE.search(key):
                yield UnsendableValueError(path, f"the name {key!r} has a lone surrogate, which UTF-8 cannot say")
            yield from _faults(below, path + _part(str(key)), depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, below in enumerate(value):
            yield from _faults(below, f"{path}[{index}]", depth + 1)
    else:
        yield from _scalar_faults(value, path)


def _scalar_faults(value: Any, path: str) -> Iterator[UnsendableValueError]:
    if isinstance(value, float) and not math.isfinite(value):
        yield UnsendableValueError(path, f"{value} is not a number that JSON knows")
    elif isinstance(value, str) and SURROGATE.search(value):
        yield UnsendableValueError(path, "has a lone surrogate, which UTF-8 cannot say")
    elif not isinstance(value, (str, int, float, type(None))):
        yield UnsendableTypeError(path, f"{type(value).__name__} is nothing that JSON knows")


def _part(key: str) -> str:
    return f".{key}" if PLAIN_KEY.fullmatch(key) else f"[{json.dumps(key, ensure_ascii=False)}]"
