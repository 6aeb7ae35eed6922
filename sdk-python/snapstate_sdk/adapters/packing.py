"""Python values in a JSON state: what JSON says exactly stands there readable, all else as typed bytes in base64."""

import math
from base64 import b64decode, b64encode
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

TYPE, BYTES = "$type", "$base64"
DEEPEST = 32
LARGEST = 2**63


class Packing:
    """With a serializer of one's own (encryption, say) nothing stands readable but names and versions of channels."""

    def __init__(self, serde: SerializerProtocol) -> None:
        self._serde = serde
        self._readable = type(serde) is JsonPlusSerializer

    def pack(self, value: Any) -> Any:
        if self._readable and is_json(value):
            return value
        kind, data = self._serde.dumps_typed(value)
        return {TYPE: kind, BYTES: b64encode(data).decode()}

    def unpack(self, packed: Any) -> Any:
        if isinstance(packed, dict) and TYPE in packed:
            return self._serde.loads_typed((packed[TYPE], b64decode(packed[BYTES])))
        return packed


def is_json(value: Any, depth: int = 0) -> bool:
    """Whether it comes back from JSON as just what it was: subclasses, tuples, NaN and keys of other kinds do not."""
    kind = type(value)
    if kind is dict:
        named = all(type(key) is str and _is_utf8(key) for key in value)
        return named and TYPE not in value and is_json(list(value.values()), depth)
    if kind is list:
        return depth < DEEPEST and all(is_json(below, depth + 1) for below in value)
    return _is_json_scalar(value)


def _is_json_scalar(value: Any) -> bool:
    kind = type(value)
    if kind is str:
        return _is_utf8(value)
    if kind is int:
        return bool(-LARGEST <= value < LARGEST)
    return value is None or kind is bool or (kind is float and math.isfinite(value))


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
