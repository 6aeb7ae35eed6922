"""Client JSON as opaque text: compared and searched here, never re-serialised."""

import json
from decimal import Decimal, InvalidOperation
from hashlib import blake2b
from typing import Any

import msgspec
import orjson

FAR = 100_000_000  # farther from the point than any digit that a state has room for
LONGEST_EXPONENT = 4_000  # of more digits Python makes no whole number
_NUMBER_STARTS = frozenset(b"-0123456789")


def same_value(left: bytes, right: bytes) -> bool:
    """Equal as JSON values: objects by name, numbers by exact decimal value, `true` never equal to `1`."""
    return left == right or _compact(left) == _compact(right) or _same(_exact(left), _exact(right))


def _compact(text: bytes) -> bytes:
    return msgspec.json.format(text, indent=-1)


def same_scalar(left: bytes, right: bytes) -> bool:
    """`same_value` for two texts that are neither objects nor arrays, at a tenth of its cost."""
    if left[:1] == b'"' or right[:1] == b'"':
        return left[:1] == right[:1] and bool(orjson.loads(left) == orjson.loads(right))
    if left.isdigit() and right.isdigit():  # there is one way to write a whole number
        return left == right
    if left[0] in _NUMBER_STARTS and right[0] in _NUMBER_STARTS:
        return _number(left.decode()) == _number(right.decode())
    return left == right


def _exact(text: bytes) -> Any:
    return json.loads(text, parse_float=_number)


def _number(text: str) -> Decimal | tuple[str, int]:
    """The exact value; beyond the exponents that Decimal takes, the digits and the power of ten of the last."""
    try:
        number = Decimal(text)
        if abs(number.adjusted()) < FAR:
            return number
    except InvalidOperation:
        pass
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return Decimal(0)
    if len(exponent) > LONGEST_EXPONENT:
        return text, 0
    significant = digits.rstrip("0")
    return text[: text[0] == "-"] + significant, int(exponent) - len(fraction) + len(digits) - len(significant)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, dict):
        if not isinstance(right, dict) or left.keys() != right.keys():
            return False
        return all(_same(value, right[key]) for key, value in left.items())
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)


def metadata_terms(metadata: bytes | None) -> list[int]:
    """Hashes of the top-level pairs that a list can be filtered by: strings, numbers, booleans and null."""
    if metadata is None:
        return []
    members = json.loads(metadata, parse_float=_Number, parse_int=_Number)
    return sorted(
        {term(key, _searchable(value)) for key, value in members.items() if not isinstance(value, dict | list)}
    )


class _Number(str):
    """A number's text as it was sent."""

    __slots__ = ()


def _searchable(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def term(key: str, value: str) -> int:
    """A signed 64-bit hash of one pair, as Postgres indexes it."""
    text = f"{len(key)}:{key}{value}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True)
