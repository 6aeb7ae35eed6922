"""A cursor is opaque: what a page ended with, as base64 of JSON; whatever else arrives as one is a 400."""

import base64
import binascii
from datetime import UTC, datetime
from typing import Any

import msgspec

from snapstate_project.common.errors import ValidationFailed
from snapstate_project.common.query import Parser, integer, text

LONGEST_CURSOR = 4096
LIMIT: Parser = integer(1, 200)
CURSOR: Parser = text(LONGEST_CURSOR)
DEFAULT_LIMIT = 50
LIMIT_SCHEMA: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": 200, "default": DEFAULT_LIMIT}
CURSOR_SCHEMA: dict[str, Any] = {"type": "string", "maxLength": LONGEST_CURSOR, "pattern": "^[A-Za-z0-9_-]+$"}


def encode_cursor(position: Any) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).rstrip(b"=").decode()


def decode_cursor[T](cursor: str, shape: type[T]) -> T:
    """The position as `shape` (any type msgspec can check, such as tuple[int, int])."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        position = msgspec.json.decode(base64.b64decode(padded, altchars=b"-_", validate=True), type=shape)
    except (binascii.Error, UnicodeError, msgspec.MsgspecError):
        position = None
    if position is None or not all(map(is_ours, msgspec.to_builtins(position, builtin_types=(datetime,)))):
        raise ValidationFailed.at("cursor", "is not a cursor of ours")
    return position


def is_ours(part: Any) -> bool:
    """Times leave us in UTC, and numbers are ids or steps: Postgres fails on some of what is neither."""
    match part:
        case datetime():
            return part.tzinfo is UTC
        case int():
            return 0 <= part < 2**63
    return True
