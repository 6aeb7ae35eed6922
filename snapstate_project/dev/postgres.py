"""An embedded Postgres: the real server from the wheel, on loopback, with a password; as root it runs as `nobody`."""

import os
import re
import secrets
import shutil
import signal
import subprocess
from pathlib import Path

import psycopg

from snapstate_project.dev.errors import CannotStart
from snapstate_project.dev.process import Log, say_nothing, wait_until
from snapstate_project.dev.reach import binaries, postgres_folder, server_user
from snapstate_project.dev.server import LOOPBACK, Server, free_port

NAME = "snapstate"  # of the role and of the database
MISSING = re.compile(r"error while loading shared libraries: ([\w.+-]+):")  # as the GNU loader says it
STILL_LEAVING = "pre-existing shared memory block"  # the backends of one that was killed need a moment


class Postgres(Server):
    """Data and password live in the home; `folder` says where the data went when they could not."""

    stop_signal = signal.SIGINT  # the fast shutdown: it does not wait for clients
    stop_seconds = 30.0

    def __init__(self, home: Path, *, fsync: bool = True, log: Log = say_nothing) -> None:
        self.home = home
        self.run_as = server_user()
        self.folder = postgres_folder(home, self.run_as)
        self.bin = binaries(home, self.run_as)
        self.port = free_port()
        self.fsync = fsync
        self.password_file = home / "postgres.password"
        super().__init__("postgres", self.command_line(), log=log, user=self.run_as.tether)
        self.env = {**os.environ, "LC_ALL": "C", "PGDATA": str(self.folder)}

    def command_line(self) -> list[str]:
        settings = {
            "listen_addresses": LOOPBACK,
            "unix_socket_directories": "",
            "fsync": "on" if self.fsync else "off",
            "max_connections": "200",
            "log_checkpoints": "off",
            "timezone": "UTC",
            "log_timezone": "UTC",
        }
        options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
        return [str(self.bin / "postgres"), "-D", str(self.folder), "-p", str(self.port), *options]

    @property
    def password(self) -> str:
        return self.password_file.read_text().strip()

    def url_of(self, database: str) -> str:
        return f"postgresql://{NAME}:{self.password}@{LOOPBACK}:{self.port}/{database}"

    @property
    def url(self) -> str:
        return self.url_of(NAME)

    def start(self) -> None:
        check_loads(self.bin / "postgres")
        if self.folder.exists():
            check_complete(self.folder, self.password_file)
        else:
            self.create()
        self.clear_stale_lock()
        super().start()
        self.create_database()

    def try_again(self) -> bool:
        leaving = any(STILL_LEAVING in line for line in self.last_lines)
        if leaving:
            self.pause(0.1)
            self.spawn()
        return leaving

    def is_news(self, line: str) -> bool:
        """Its daily life (LOG) is not; `why_not` still tells of it when a start fails."""
        return super().is_news(line) and " LOG:  " not in line

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url_of("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def clear_stale_lock(self) -> None:
        """Wait for the server of a run that was killed; forget a lock whose number is somebody else's by now."""
        lock = self.folder / "postmaster.pid"
        if not lock.exists():
            return
        pid = int(lock.read_text().split("\n", 1)[0])
        if not wait_until(lambda: not serves(pid, self.folder), seconds=15, pause=self.pause):
            raise CannotStart(f"Another Postgres (process {pid}) still uses {self.folder}. Stop it and start again.")
        lock.unlink(missing_ok=True)

    def create_database(self) -> None:
        with psycopg.connect(self.url_of("postgres"), autocommit=True) as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME]).fetchone():
                connection.execute(f"CREATE DATABASE {NAME}")

    def create(self) -> None:
        """Beside its place first, then moved: a folder that exists was finished."""
        beside = self.folder.with_name("postgres.part")
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(mode=0o700)
        password = secrets.token_hex(16)
        pwfile = beside.with_name("postgres.pwfile")
        pwfile.touch(mode=0o600)
        pwfile.write_text(password)
        for path in (beside, pwfile):
            os.chown(path, self.run_as.uid, self.run_as.gid)
        try:
            self.initdb(beside, pwfile)
        finally:
            pwfile.unlink()
        self.password_file.touch(mode=0o600)
        self.password_file.write_text(password)
        beside.rename(self.folder)

    def initdb(self, folder: Path, pwfile: Path) -> None:
        options = ["-D", str(folder), "-U", NAME, "-A", "scram-sha-256", f"--pwfile={pwfile}", "-E", "UTF8"]
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        sync = [] if self.fsync else ["--no-sync"]
        who = {"user": self.run_as.uid, "group": self.run_as.gid, "extra_groups": []} if self.run_as.other else {}
        made = subprocess.run(
            [str(self.bin / "initdb"), *options, *locale, *sync],
            cwd="/",
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
            **who,  # type: ignore[call-overload]
        )
        if made.returncode:
            raise CannotStart(f"Postgres could not make its data folder {folder}:\n  {made.stderr.strip()}")


def check_loads(program: Path) -> None:
    """The wheel brings Postgres, but not every library that it needs; of the smallest systems one is missing."""
    tried = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=False)
    if tried.returncode:
        missing = MISSING.search(tried.stderr)
        why = f"the library {missing[1]} is missing" if missing else tried.stderr.strip()
        package = missing[1].partition(".so")[0] if missing else "the package that brings it"
        raise CannotStart(
            f"The embedded Postgres cannot run here: {why}. Install it (on Debian and Ubuntu: apt-get install "
            f"{package}), or name a Postgres of your own: DATABASE_URL=postgresql://… make up"
        )


def check_complete(folder: Path, password_file: Path) -> None:
    needed = (folder / "PG_VERSION", folder / "global" / "pg_control", password_file)
    missing = next((path for path in needed if not path.exists()), None)
    if missing:
        raise CannotStart(
            f"The data folder {folder} is incomplete: {missing} is missing. Move the folder away to begin with an "
            "empty database, or set SNAPSTATE_HOME to another folder, and start again."
        )


def serves(pid: int, folder: Path) -> bool:
    try:
        return str(folder) in Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False
