"""Text as clients sent it, NUL included: Postgres refuses that one, so it is kept escaped."""

from typing import Any

from django.db import models


class ExactTextField(models.TextField):  # type: ignore[type-arg]  # generic for mypy only
    """Text that may hold NUL, which Postgres refuses: kept with backslashes doubled and NUL written as `\\0`."""

    def get_prep_value(self, value: Any) -> Any:
        prepared = super().get_prep_value(value)
        return escape_nul(prepared) if isinstance(prepared, str) else prepared

    def from_db_value(self, value: str | None, *_: Any) -> str | None:
        return unescape_nul(value) if value else value


def escape_nul(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\x00", "\\0")


def unescape_nul(text: str) -> str:
    if "\\" not in text:
        return text
    return "\\".join(part.replace("\\0", "\x00") for part in text.split("\\\\"))
