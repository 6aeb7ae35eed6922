"""What is committed or about to be, as the tests of the house read it."""

import subprocess
from functools import cache
from pathlib import Path

from snapstate_project.dev.home import BASE_DIR


@cache
def files() -> list[Path]:
    """Everything that git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [BASE_DIR / name for name in listed.stdout.splitlines()]
    return [path for path in paths if path.is_file()]


def named(*endings: str) -> list[Path]:
    return [path for path in files() if path.name.endswith(endings)]


def python(*, tests: bool = True) -> list[Path]:
    """Python written by hand: no migrations."""
    found = [path for path in named(".py") if "migrations" not in path.parts]
    return found if tests else [path for path in found if BASE_DIR / "tests" not in path.parents]


def short(path: Path) -> str:
    return str(path.relative_to(BASE_DIR))
