"""An archive whose server is away: whatever is asked of it fails."""

from typing import Any, NoReturn

from django.core.files.storage import Storage


def away(*_: object) -> NoReturn:
    raise ConnectionError("the archive is away")


class BlackHole(Storage):
    _open: Any = away
    _save: Any = away
    exists: Any = away
    delete: Any = away
    listdir: Any = away
