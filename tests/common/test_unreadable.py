"""What is no HTTP request gets the one error shape too, though no view ever hears of it."""

import json

import pytest

from tests.common.raw_http import answer_to, head


@pytest.mark.parametrize(
    "sent",
    [
        b"nonsense\r\n\r\n",
        b"GET /health HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"POST /checkpoints HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nBroken header\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
    ids=["nonsense", "no length", "a length below zero", "no version", "no header", "too long"],
)
def test_it_is_a_400_in_the_one_shape_with_an_id_of_its_own(base_url: str, sent: bytes) -> None:
    said, _, body = answer_to(base_url, sent).partition(b"\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 400 "), said
    headers = dict(line.split(": ", 1) for line in said.decode().lower().split("\r\n")[1:])
    error = json.loads(body)["error"]
    assert (error["code"], error["request_id"]) == ("VALIDATION_ERROR", headers["x-request-id"])
    assert (headers["content-type"], headers["connection"]) == ("application/json", "close")


def test_the_next_one_on_the_same_port_is_answered(base_url: str) -> None:
    answer_to(base_url, b"nonsense\r\n\r\n")
    assert answer_to(base_url, head("GET", "/ready", "")).startswith(b"HTTP/1.1 200 ")
