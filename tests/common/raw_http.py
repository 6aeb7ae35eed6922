"""HTTP as bytes on a socket, for what no client library would send."""

import socket
from urllib.parse import urlsplit


def connect(base_url: str) -> socket.socket:
    parts = urlsplit(base_url)
    return socket.create_connection((parts.hostname, parts.port), timeout=10)


def answer_to(base_url: str, *sent: bytes) -> bytes:
    """Everything the server says until it closes, or has said one whole answer."""
    with connect(base_url) as connection:
        for part in sent:
            connection.sendall(part)
        return read_answer(connection)


def read_answer(connection: socket.socket) -> bytes:
    said = b""
    while part := connection.recv(65_536):
        said += part
        head, found, body = said.partition(b"\r\n\r\n")
        if found and len(body) >= length_of(head):
            break
    return said


def length_of(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.split(b":")[1])
    return 0


def head(method: str, path: str, key: str, **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {key}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
