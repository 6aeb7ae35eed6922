"""A cursor is opaque: what a page ended with, as base64 of JSON; whatever else arrives as one is a 400."""

import base64
import binascii
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
        return msgspec.json.decode(base64.b64decode(padded, altchars=b"-_", validate=True), type=shape)
    except (binascii.Error, UnicodeError, msgspec.MsgspecError):
        raise ValidationFailed.at("cursor", "is not a cursor of ours") from None
