"""One POST to one endpoint, to an address that was checked and to no other; no redirects, 15 seconds in all."""

import io
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from http.client import HTTPException, HTTPResponse
from ipaddress import ip_address
from typing import Any

import msgspec
from django.conf import settings
from django.utils.module_loading import import_string

from webhooks.addresses import Target, check_address, target_of
from webhooks.errors import AddressRefused

TIMEOUT_SECONDS = 15.0
CONNECT_SECONDS = 5.0  # to one address: there may be another
READ_AT_MOST = 65_536
KEPT_OF_RESPONSE = 1_024
MOST_ANNOUNCED = 32
LONGEST_REASON = 300

type Resolve = Callable[[str, int], list[str]]
"""Host and port in; every address of that host out, as text. OSError when there is none."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came of an attempt; `error` says why there is no status, or why a redirect was not followed."""

    status_code: int | None = None
    error: str | None = None
    response: str = ""
    retry_after: str | None = None
    seconds: float = 0.0

    @property
    def is_success(self) -> bool:
        return self.error is None and self.status_code is not None and 200 <= self.status_code < 300


class OutOfTime(TimeoutError):
    def __init__(self) -> None:
        super().__init__(f"no answer within {TIMEOUT_SECONDS:.0f} seconds")


@dataclass(frozen=True, slots=True)
class Deadline:
    """For everything together: resolving, connecting, sending and reading."""

    at: float

    @property
    def left(self) -> float:
        left = self.at - time.monotonic()
        if left <= 0:
            raise OutOfTime
        return left


class Bounded(io.RawIOBase):
    """The reading side of a connection: every read has what is left of the time, and of the bytes."""

    def __init__(self, connection: socket.socket, deadline: Deadline, room: int) -> None:
        self.connection, self.deadline, self.room = connection, deadline, room

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.room <= 0:
            return 0
        self.connection.settimeout(self.deadline.left)
        count = self.connection.recv_into(memoryview(buffer)[: self.room])
        self.room -= count
        return count

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        """What http.client asks a socket for."""
        return io.BufferedReader(self)


def post(url: str, headers: Mapping[str, str], body: bytes) -> Answer:
    """Send, whatever comes of it: failures are answers too."""
    began = time.monotonic()
    deadline = Deadline(began + TIMEOUT_SECONDS)
    try:
        answer = exchange(target_of(url), headers, body, deadline)
    except AddressRefused as refused:
        answer = Answer(error=f"refused: {refused}")
    except TimeoutError:
        answer = Answer(error=str(OutOfTime()))
    except (OSError, HTTPException, ValueError) as error:
        answer = Answer(error=reason_of(error))
    return msgspec.structs.replace(answer, seconds=time.monotonic() - began)


def exchange(target: Target, headers: Mapping[str, str], body: bytes, deadline: Deadline) -> Answer:
    with connect(target, deadline) as connection:
        connection.settimeout(deadline.left)
        connection.sendall(head_of(target, headers, len(body)) + body)
        response = HTTPResponse(Bounded(connection, deadline, READ_AT_MOST), method="POST")  # type: ignore[arg-type]
        begin(response)
        return answer_of(response)


def begin(response: HTTPResponse) -> None:
    """Read past what only announces the answer (103 Early Hints); http.client itself passes over nothing but 100.

    All of it shares the time and the bytes of the one answer. Raises HTTPException.
    """
    for _ in range(MOST_ANNOUNCED + 1):
        response.begin()
        if response.status >= 200:
            return
        response.headers = None  # type: ignore[assignment]  # what makes it read another head
    raise HTTPException(f"more than {MOST_ANNOUNCED} answers that only announce another")


def connect(target: Target, deadline: Deadline) -> socket.socket:
    """A connection to the first checked address that takes one; TLS names the host, not the address."""
    failure: OSError = OSError("the host has no address")
    for address in checked_addresses(target):
        try:
            timeout = min(deadline.left, CONNECT_SECONDS)
            connection = socket.create_connection((address, target.port), timeout=timeout)
        except OutOfTime:
            raise
        except OSError as error:
            failure = error
            continue
        return connection if target.scheme == "http" else secured(connection, target.host, deadline)
    raise failure


def checked_addresses(target: Target) -> list[str]:
    """Resolved once; one address that is not public spoils all of them. Raises AddressRefused, OSError."""
    resolve_host: Resolve = import_string(settings.WEBHOOK_RESOLVER)
    addresses = resolve_host(target.host, target.port)
    for address in addresses:
        check_address(ip_address(address))
    return addresses


def resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def secured(connection: socket.socket, host: str, deadline: Deadline) -> socket.socket:
    try:
        connection.settimeout(deadline.left)
        return tls().wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise


@cache
def tls() -> ssl.SSLContext:
    """Certificates are always verified, by the authorities that the system trusts (SSL_CERT_FILE names others).
    Made once: that takes longer than a delivery."""
    return ssl.create_default_context()


def head_of(target: Target, headers: Mapping[str, str], length: int) -> bytes:
    named = {
        "Host": target.host_header,
        "User-Agent": f"SnapState-Webhooks/{settings.VERSION}",
        "Accept": "*/*",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "Content-Length": str(length),
        "Connection": "close",
        **headers,
    }
    lines = [f"POST {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def answer_of(response: HTTPResponse) -> Answer:
    """The status stands once the head is read. Of the body a little is kept; how it ends says nothing."""
    body = bytearray()
    with suppress(OSError, HTTPException, ValueError):
        while len(body) < READ_AT_MOST and (part := response.read1(READ_AT_MOST)):
            body += part
    text = body[:KEPT_OF_RESPONSE].decode(errors="replace").replace("\0", "\ufffd")
    error = "redirects are not followed" if 300 <= response.status < 400 else None
    retry_after = response.getheader("Retry-After")
    return Answer(status_code=response.status, error=error, response=text, retry_after=retry_after)


def reason_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".replace("\0", "")[:LONGEST_REASON]
