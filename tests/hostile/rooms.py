"""Rooms that are not built yet: tests of them call what is missing, and fail for exactly that, until it is there."""

from pathlib import Path

import pytest

from snapstate_project.dev.home import BASE_DIR

PYTHON_SDK = BASE_DIR / "sdk-python"


def waits_for(room: str, raises: type[BaseException] = AssertionError) -> pytest.MarkDecorator:
    """A strict expected failure: the test starts to fail when the room is built, and then loses this mark."""
    return pytest.mark.xfail(strict=True, raises=raises, reason=f"waits for {room}")


def waits_for_client(name: str) -> pytest.MarkDecorator:
    """Clients of ours are run in their own folder, which is not there yet."""
    return waits_for(name, FileNotFoundError)


def home_of(client: Path) -> Path:
    """The folder of a client of ours. Raises FileNotFoundError while it has not been written."""
    return client.resolve(strict=True)
