"""Requests that came together are answered in turn, each by itself; what comes in pieces is answered too."""

import json

import pytest

from tests.common.raw_http import connect, head, length_of

TOGETHER = 1_500  # more than Python nests calls


def answers_to(base_url: str, sent: bytes, count: int) -> list[tuple[bytes, bytes]]:
    """Heads and bodies of so many answers on one connection."""
    found: list[tuple[bytes, bytes]] = []
    said = b""
    with connect(base_url) as connection:
        connection.sendall(sent)
        while len(found) < count:
            top, whole, rest = said.partition(b"\r\n\r\n")
            if whole and len(rest) >= length_of(top):
                found.append((top, rest[: length_of(top)]))
                said = rest[length_of(top) :]
            else:
                part = connection.recv(262_144)
                assert part, f"the connection was closed after {len(found)} answers"
                said += part
    return found


def save(key: str, workflow_id: str, step: int) -> bytes:
    body = json.dumps({"workflow_id": workflow_id, "step": step, "state": {"n": step}}).encode()
    return head("POST", "/checkpoints", key, Content_Type="application/json", Content_Length=str(len(body))) + body


@pytest.mark.parametrize("path", ["/nowhere", "/usage"], ids=["answered at once", "answered after a trip"])
def test_requests_sent_together_are_all_answered(base_url: str, key: str, path: str) -> None:
    answers = answers_to(base_url, head("GET", path, key) * TOGETHER, TOGETHER)
    assert {top.split(b"\r\n")[0] for top, _ in answers} == {answers[0][0].split(b"\r\n")[0]}
    ids = [line for top, _ in answers for line in top.split(b"\r\n") if line.startswith(b"x-request-id")]
    assert len(set(ids)) == TOGETHER


def test_saves_sent_together_are_taken_in_their_order(base_url: str, key: str) -> None:
    answers = answers_to(base_url, b"".join(save(key, "together", step) for step in range(50)), 50)
    assert [json.loads(body)["step"] for _, body in answers] == list(range(50))
    assert all(top.startswith(b"HTTP/1.1 201 ") for top, _ in answers)


def test_a_request_that_comes_in_pieces_is_answered(base_url: str, key: str) -> None:
    whole = save(key, "in pieces", 1)
    with connect(base_url) as connection:
        for at in range(0, len(whole), 40):
            connection.sendall(whole[at : at + 40])
        assert connection.recv(65_536).startswith(b"HTTP/1.1 201 ")


def test_a_client_that_wants_to_part_is_told_so_and_parted_from(base_url: str, key: str) -> None:
    with connect(base_url) as connection:
        connection.sendall(head("GET", "/usage", key, Connection="close"))
        said = b""
        while part := connection.recv(65_536):
            said += part
    assert said.startswith(b"HTTP/1.1 200 OK")
    assert b"connection: close\r\n" in said


def test_an_answer_may_be_larger_than_a_client_takes_at_once(base_url: str, key: str) -> None:
    """The first fills the buffers: those after it wait until the client reads, and none is lost."""
    state = json.dumps({"workflow_id": "large", "step": 1, "state": {"text": "x" * 1_000_000}}).encode()
    kind = {"Content_Type": "application/json", "Content_Length": str(len(state))}
    assert answers_to(base_url, head("POST", "/checkpoints", key, **kind) + state, 1)[0][0].startswith(b"HTTP/1.1 201 ")
    answers = answers_to(base_url, head("GET", "/workflows/large/resume", key) * 12, 12)
    assert {len(body) for _, body in answers} == {len(answers[0][1])}
    assert len(answers[0][1]) > 1_000_000
