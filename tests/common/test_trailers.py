"""What follows a chunked body is no header of the request, however the packets fall."""

import time

import pytest

from tests.common.raw_http import connect, head, read_answer

BODY = b'{"workflow_id":"wf","step":1,"state":{}}'
PLAIN = {"Transfer_Encoding": "chunked", "Content_Type": "application/json"}


def answer_with(base_url: str, trailer: bytes, first: bytes, *, at_once: bool) -> bytes:
    body = b"%x\r\n%b\r\n0\r\n%b\r\n\r\n" % (len(BODY), BODY, trailer)
    with connect(base_url) as connection:
        if at_once:
            connection.sendall(first + body)
        else:
            connection.sendall(first)
            time.sleep(0.1)
            connection.sendall(body)
        return read_answer(connection)


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize(
    "trailer", [b'If-Match: "nope"', b"Content-Type: text/plain", b"Authorization: Bearer x", b"X-Checkpoint-TTL: 0"]
)
def test_a_trailer_is_no_header(base_url, key, trailer, at_once):
    answer = answer_with(base_url, trailer, head("POST", "/checkpoints", key, **PLAIN), at_once=at_once)
    assert answer.startswith(b"HTTP/1.1 201 ")


@pytest.mark.parametrize("at_once", [True, False])
def test_a_key_in_a_trailer_lets_nobody_in(base_url, key, at_once):
    anonymous = head("POST", "/checkpoints", key, **PLAIN).replace(b"Authorization:", b"X-Other:")
    answer = answer_with(base_url, b"Authorization: Bearer " + key.encode(), anonymous, at_once=at_once)
    assert answer.startswith(b"HTTP/1.1 401 ")


def test_the_next_request_has_headers_again(base_url, key):
    with connect(base_url) as connection:
        for step in (1, 2):
            body = BODY.replace(b'"step":1', b'"step":%d' % step)
            whole = b"%x\r\n%b\r\n0\r\nX-Sum: 1\r\n\r\n" % (len(body), body)
            connection.sendall(head("POST", "/checkpoints", key, **PLAIN) + whole)
            assert read_answer(connection).startswith(b"HTTP/1.1 201 ")
