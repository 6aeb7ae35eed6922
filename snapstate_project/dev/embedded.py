"""Real Valkey and Postgres servers from wheels, for `make up`, tests and the bench; they end with the one who asked."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from snapstate_project.dev.home import make_home
from snapstate_project.dev.postgres import Postgres
from snapstate_project.dev.process import Log, say_nothing
from snapstate_project.dev.valkey import Valkey


@dataclass(frozen=True)
class Servers:
    """Each can be stopped, killed and started again on the same port and data."""

    store: Valkey
    broker: Valkey
    postgres: Postgres

    @property
    def redis_url(self) -> str:
        return self.store.url

    @property
    def broker_url(self) -> str:
        return self.broker.url

    @property
    def database_url(self) -> str:
        return self.postgres.url


@contextlib.contextmanager
def servers(
    home: Path, *, appendfsync: str = "everysec", fsync: bool = True, log: Log = say_nothing
) -> Iterator[Servers]:
    """Start all three with their data under `home`; stop them on the way out, in the reverse order.

    `appendfsync` is the store's; `fsync=False` is for databases that nobody will miss.
    """
    home = home.absolute()
    make_home(home)
    store = Valkey("valkey", home / "valkey", appendfsync=appendfsync, log=log)
    broker = Valkey("broker", home / "broker", log=log)
    with contextlib.ExitStack() as stack:
        for server in (store, broker):
            stack.callback(server.stop)
            server.start()
        postgres = Postgres(home, fsync=fsync, log=log)
        stack.callback(postgres.stop)
        postgres.start()
        yield Servers(store, broker, postgres)
