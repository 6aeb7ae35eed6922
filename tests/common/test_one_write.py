"""Answers leave whole; and none is kept back."""

import json

import pytest

from snapstate_project.one_write import OneWrite
from tests.common.raw_http import answer_to, connect, head


class Wire:
    """What a transport is asked to write, and when it is closed."""

    def __init__(self) -> None:
        self.said: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.said.append(data)

    def close(self) -> None:
        self.said.append(b"closed")

    def is_closing(self) -> bool:
        return b"closed" in self.said


def test_head_and_body_leave_together() -> None:
    wire = Wire()
    transport = OneWrite(wire)  # type: ignore[arg-type]
    for part in (b"HTTP/1.1 200 OK\r\n\r\n", b"body", b"more"):
        transport.write(part)
    assert wire.said == [b"HTTP/1.1 200 OK\r\n\r\nbody", b"more"]


def test_a_head_without_a_body_leaves_at_the_end_and_before_the_close() -> None:
    wire = Wire()
    transport = OneWrite(wire)  # type: ignore[arg-type]
    transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    transport.flush()
    transport.write(b"HTTP/1.1 304 Not Modified\r\n\r\n")
    transport.close()
    assert wire.said == [b"HTTP/1.1 204 No Content\r\n\r\n", b"HTTP/1.1 304 Not Modified\r\n\r\n", b"closed"]
    assert transport.is_closing()


def test_an_interim_answer_waits_for_nothing() -> None:
    wire = Wire()
    OneWrite(wire).write(b"HTTP/1.1 100 Continue\r\n\r\n")  # type: ignore[arg-type]
    assert wire.said == [b"HTTP/1.1 100 Continue\r\n\r\n"]


def test_a_body_that_reads_like_a_head_is_not_lost() -> None:
    wire = Wire()
    transport = OneWrite(wire)  # type: ignore[arg-type]
    for part in (b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK"):
        transport.write(part)
    assert b"".join(wire.said) == b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK"


@pytest.mark.parametrize("path", ["/health", "/usage", "/nowhere", "/"])
def test_the_first_that_a_client_reads_is_the_whole_answer(base_url: str, key: str, path: str) -> None:
    with connect(base_url) as connection:
        connection.sendall(head("GET", path, key))
        _, _, body = connection.recv(262_144).partition(b"\r\n\r\n")
    assert body


@pytest.mark.parametrize("path", ["/health", "/usage", "/"])
def test_an_answer_without_a_body_comes_and_the_connection_goes_on(base_url: str, key: str, path: str) -> None:
    with connect(base_url) as connection:
        for _ in range(2):
            connection.sendall(head("HEAD", path, key))
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200 OK")


def test_who_expects_a_100_is_told_to_go_on(base_url: str, key: str) -> None:
    body = json.dumps({"workflow_id": "wf", "step": 1, "state": {}}).encode()
    asked = head(
        "POST",
        "/checkpoints",
        key,
        Content_Type="application/json",
        Content_Length=str(len(body)),
        Expect="100-continue",
    )
    with connect(base_url) as connection:
        connection.sendall(asked)
        assert connection.recv(65_536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 201 Created")


def test_what_cannot_be_read_is_answered_before_the_close(base_url: str) -> None:
    assert answer_to(base_url, b"NO HTTP\r\n\r\n").startswith(b"HTTP/1.1 400 ")
