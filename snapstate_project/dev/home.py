"""SNAPSTATE_HOME: the folder that keeps everything between two runs; one run at a time uses it."""

import fcntl
import os
import secrets
from io import StringIO
from pathlib import Path
from typing import IO

from dotenv import dotenv_values

from snapstate_project.dev.errors import CannotStart

BASE_DIR = Path(__file__).resolve().parents[2]


def home_folder() -> Path:
    return Path(os.environ.get("SNAPSTATE_HOME") or BASE_DIR / ".snapstate").absolute()


def make_home(home: Path) -> None:
    """Others may pass through a home of ours but not look around; one that exists keeps its mode."""
    try:
        if not home.exists():
            home.mkdir(parents=True)
            home.chmod(0o711)
        (home / ".writable").touch()
        (home / ".writable").unlink()
    except OSError as error:
        raise CannotStart(
            f"SNAPSTATE_HOME is {home}, which cannot be used ({error.strerror}). "
            "Set SNAPSTATE_HOME to a folder of your own."
        ) from None


def lock_home(home: Path) -> IO[str]:
    """The lock is held while the file is open; the system lets go of it however we end."""
    lock = (home / "lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        owner = lock.read().strip() or "unknown"
        lock.close()
        raise CannotStart(
            f"SnapState is running already on {home} (process {owner}). Stop it first, or give this one "
            "a folder and a port of its own: SNAPSTATE_HOME=… PORT=… make up"
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def read_dev_env(home: Path) -> dict[str, str]:
    path = home / "dev.env"
    try:
        text = path.read_text() if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise CannotStart(f"{path} cannot be read ({error}). Move it away: it is made anew.") from None
    return {name: value for name, value in dotenv_values(stream=StringIO(text)).items() if value}


def write_private(path: Path, text: str) -> None:
    """Whole or not at all, and for its owner's eyes only."""
    beside = path.with_name(path.name + ".part")
    beside.unlink(missing_ok=True)
    beside.touch(mode=0o600)
    beside.write_text(text)
    beside.replace(path)


def kept_secret(home: Path, name: str) -> str:
    """A random value that is made once."""
    path = home / name
    if not path.exists() or not path.read_text().strip():
        write_private(path, secrets.token_hex(32))
    return path.read_text().strip()
