"""Query strings are strict: an unknown or repeated parameter, or a value that is not what it should be, is a 400."""

import re
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qsl

from django.http import HttpRequest

from snapstate_project.common.errors import ValidationFailed

type Parser = Callable[[str], Any]

WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)


def query(request: HttpRequest, allowed: Mapping[str, Parser]) -> dict[str, Any]:
    """The parsed parameters that were sent. `allowed` maps a name, or `prefix.*`, to the parser of its text."""
    text = request.META.get("QUERY_STRING", "")
    if not text:
        return {}
    found: dict[str, Any] = {}
    for name, value in pairs(text):
        prefix, dot, _ = name.partition(".")
        parser = allowed.get(name) or (allowed.get(f"{prefix}.*") if dot else None)
        if parser is None or name in found:
            raise ValidationFailed.at(name, "is given twice" if name in found else "is not a known parameter")
        try:
            found[name] = parser(value)
        except ValueError as error:
            raise ValidationFailed.at(name, str(error)) from None
    return found


def pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        raise ValidationFailed("The query string is not valid UTF-8, or too long.") from None


# --- Parsers: text in, value out; a ValueError says what is right ---


def integer(least: int, most: int) -> Parser:
    def parse(text: str) -> int:
        if WHOLE_NUMBER.fullmatch(text) and least <= int(text) <= most:
            return int(text)
        raise ValueError(f"must be a whole number from {least} to {most}")

    return parse


def boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError("must be true or false")
    return text == "true"


def text(most: int, *, least: int = 1, nul: bool = False) -> Parser:
    """`nul`: where the text never reaches Postgres as it is, which takes no NUL."""

    def parse(value: str) -> str:
        if not least <= len(value) <= most:
            raise ValueError(f"must be text of {least} to {most} characters")
        if "\x00" in value and not nul:
            raise ValueError("must be text without NUL")
        return value

    return parse


def choice(options: Collection[str]) -> Parser:
    def parse(value: str) -> str:
        if value not in options:
            raise ValueError(f"must be one of {', '.join(options)}")
        return value

    return parse


def day(value: str) -> date:
    try:
        if DATE.fullmatch(value):
            return date.fromisoformat(value)
    except ValueError:
        pass
    raise ValueError("must be a date like 2026-11-29")


def moment(value: str) -> datetime:
    """An aware datetime in UTC; nanoseconds, as Go and Java write them, are cut to microseconds."""
    try:
        if MOMENT.fullmatch(value):
            return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise ValueError("must be a time like 2026-11-29T18:33:11.123Z")
