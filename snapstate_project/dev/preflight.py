"""What can be known before anything is started, said in a sentence that tells what to do."""

import hashlib
import os
import socket
from collections.abc import Mapping, MutableMapping, Sequence
from urllib.parse import urlsplit

import psycopg
import redis

from snapstate_project.dev.errors import CannotStart

EMBEDDED = "SNAPSTATE_EMBEDDED"
"""In dev.env: which addresses there are of servers that `make up` itself started, and a digest of them."""


def mark_of(environ: Mapping[str, str], names: Sequence[str]) -> str:
    addresses = "\n".join(f"{name}={environ[name]}" for name in names)
    return f"{','.join(names)}:{hashlib.sha256(addresses.encode()).hexdigest()[:16]}"


def pass_over_embedded(environ: MutableMapping[str, str]) -> list[str]:
    """A terminal that has sourced dev.env names the servers of that run, which is over, or is another home's.

    Takes their names away and tells them; addresses that anybody has given are left.
    """
    mark = environ.pop(EMBEDDED, "")
    names = [name for name in mark.partition(":")[0].split(",") if name in environ]
    if not names or mark != mark_of(environ, names):
        return []
    for name in names:
        del environ[name]
    return names


def port_from(environ: Mapping[str, str]) -> int:
    given = environ.get("PORT") or "8000"
    if not given.isascii() or not given.isdigit() or not 0 < int(given) < 65536:
        raise CannotStart(f"PORT must be a number from 1 to 65535, not {given!r}.")
    return int(given)


def check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))  # noqa: S104 - taken on any address is taken
        except OSError as error:
            raise CannotStart(
                f"Port {port} cannot be used ({os.strerror(error.errno or 0)}): most likely another program "
                f"listens there. Stop it, or choose another port: PORT={port + 1 if port < 65535 else 8000} make up"
            ) from None


def check_redis(name: str, url: str) -> None:
    try:
        with redis.Redis.from_url(url, socket_timeout=3, socket_connect_timeout=3, retry=None) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        raise CannotStart(unreachable(name, url, error)) from None


def check_postgres(name: str, url: str) -> None:
    try:
        psycopg.connect(url, connect_timeout=3).close()
    except psycopg.Error as error:
        raise CannotStart(unreachable(name, url, error)) from None


def unreachable(name: str, url: str, error: Exception) -> str:
    reason = " ".join(str(error).split())
    return (
        f"{name} is given (in the environment or in .env), but {without_password(url)} does not answer: {reason}. "
        f"Start that server, or take {name} away: then `make up` brings a server of its own."
    )


def without_password(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
