"""The lean handler: bodies bounded while they are read, clients that leave, methods answered by hand."""

import asyncio
import time
from itertools import pairwise

import pytest
from django.conf import settings

from accounts.services import issue_key
from snapstate_project import asgi
from tests.common.raw_http import answer_to, connect, head, read_answer

JSON = {"Content_Type": "application/json"}
LIMIT = settings.MAX_BODY_BYTES


def chunk(size: int) -> bytes:
    return b"%x\r\n%s\r\n" % (size, b"x" * size)


@pytest.mark.parametrize("path", ["/checkpoints", "/admin/accounts"])
def test_a_chunked_body_without_end_gets_413_as_soon_as_the_limit_is_passed(base_url, key, path):
    token = settings.ADMIN_SECRET if path.startswith("/admin") else key
    with connect(base_url) as connection:
        connection.sendall(head("POST", path, token, Transfer_Encoding="chunked", **JSON))
        for _ in range(LIMIT // 65_536 + 1):
            connection.sendall(chunk(65_536))
        answer = read_answer(connection)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"PAYLOAD_TOO_LARGE"' in answer


@pytest.mark.parametrize("path", ["/checkpoints", "/admin/accounts"])
def test_a_length_above_the_limit_gets_413_before_any_body(base_url, key, path):
    token = settings.ADMIN_SECRET if path.startswith("/admin") else key
    answer = answer_to(base_url, head("POST", path, token, Content_Length=str(LIMIT + 1), **JSON))
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"x-request-id" in answer


def test_a_client_that_sends_all_of_a_large_body_first_still_gets_its_413(api):
    for _ in range(3):
        assert api.post("/checkpoints", content=b"x" * 8_000_000, headers={"Content-Type": "x"}).status_code in (
            413,
            415,
        )


@pytest.mark.parametrize("path", ["/checkpoints", "/admin/accounts"])
def test_who_has_no_key_is_told_so_before_the_size_of_the_body_counts(base_url, path):
    answer = answer_to(base_url, head("POST", path, "nobody", Content_Length=str(LIMIT + 1), **JSON))
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"www-authenticate: Bearer" in answer


@pytest.mark.parametrize("cuts", [(), (0,), (1,), (0, 20), (40, 90)])
@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_a_body_is_the_same_however_it_comes(base_url, key, framing, cuts):
    """Behind its head in one packet, or in several."""
    body = b'{"workflow_id":"wf","step":1,"state":{"text":"\xc3\xa9, and more of it until there is enough to cut"}}'
    how = {"Transfer_Encoding": "chunked"} if framing == "chunks" else {"Content_Length": str(len(body))}
    sent = body if framing == "length" else b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    whole = head("POST", "/checkpoints", key, **how, **JSON) + sent
    places = [0, *(len(whole) - len(sent) + cut for cut in cuts), len(whole)]
    with connect(base_url) as connection:
        for start, end in pairwise(places):
            connection.sendall(whole[start:end])
            time.sleep(0.02)
        answer = read_answer(connection)
    assert answer.startswith(b"HTTP/1.1 201 ")
    assert b'"size_bytes":%d' % (len(body) - len(b'{"workflow_id":"wf","step":1,"state":}')) in answer


def save_request(key: str, step: int, size: int) -> bytes:
    body = b'{"workflow_id":"wf","step":%d,"state":{"text":"%s"}}' % (step, b"x" * size)
    return head("POST", "/checkpoints", key, Content_Length=str(len(body)), **JSON) + body


def test_requests_sent_before_the_answer_are_answered_in_turn(base_url, key):
    """The first body is more than the server takes in at once: it must go on reading when that is answered."""
    with connect(base_url) as connection:
        connection.sendall(save_request(key, 1, 100_000) + save_request(key, 2, 10))
        said = b""
        while said.count(b"HTTP/1.1 201 ") < 2 or not said.endswith(b"}"):
            part = connection.recv(65_536)
            assert part, said
            said += part
        assert said.index(b'"step":1') < said.index(b'"step":2')
        connection.sendall(save_request(key, 3, 10))
        assert b'"step":3' in read_answer(connection)


def test_who_would_wait_for_a_100_but_did_not_gets_the_answer_alone(base_url, key):
    sent = save_request(key, 1, 10).replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n", 1)
    assert answer_to(base_url, sent).startswith(b"HTTP/1.1 201 ")


def test_a_body_of_exactly_the_limit_is_read(base_url, key):
    sent = head("POST", "/checkpoints", key, Content_Length=str(LIMIT), **JSON), b" " * LIMIT
    assert answer_to(base_url, *sent).startswith(b"HTTP/1.1 400 ")


def test_clients_that_leave_while_sending_leave_nothing_behind(base_url, api, caplog):
    for _ in range(20):
        with connect(base_url) as connection:
            connection.sendall(head("POST", "/checkpoints", "any", Content_Length="1000", **JSON) + b"{")
    assert api.get("/usage").status_code == 200
    assert "Traceback" not in caplog.text


def test_a_client_that_leaves_is_not_answered():
    async def scenario():
        messages = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
        sent = []

        async def receive():
            return messages.pop(0)

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/checkpoints", "raw_path": b"/checkpoints"}
        scope |= {"query_string": b"", "headers": [(b"transfer-encoding", b"chunked")]}
        await asgi.application(scope, receive, send)
        return sent

    assert asyncio.run(scenario()) == []


def test_head_is_get_without_a_body(api):
    got, asked = api.get("/usage"), api.head("/usage")
    assert asked.status_code == 200
    assert asked.content == b""
    assert asked.headers["Content-Length"] == got.headers["Content-Length"]


@pytest.mark.parametrize("path", ["/checkpoints", "/usage", "/workflows/w", "/health"])
def test_options_tells_the_methods_without_a_key(anonymous, path):
    response = anonymous.options(path)
    assert response.status_code == 204
    assert "OPTIONS" in response.headers["Allow"]
    assert response.content == b""


def test_an_encoded_slash_is_no_slash(api):
    assert api.get("/workflows/a%2Fresume").json()["error"]["code"] == "NOT_FOUND"
    assert api.get("/workflows/a%2Fb%2Fc/resume").status_code == 404
    assert api.get("/workflows%2Fa/resume").status_code == 404


def test_headers_with_underscores_cannot_pass_for_others(base_url, key):
    sent = head("GET", "/usage", "wrong").replace(b"\r\n\r\n", f"\r\nAuthorization_: Bearer {key}\r\n\r\n".encode())
    assert answer_to(base_url, sent).startswith(b"HTTP/1.1 401 ")


def test_two_authorization_headers_are_none(base_url, key):
    sent = head("GET", "/usage", key).replace(b"\r\n\r\n", f"\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
    assert answer_to(base_url, sent).startswith(b"HTTP/1.1 401 ")


def test_many_requests_on_one_connection(base_url, key):
    with connect(base_url) as connection:
        began = time.monotonic()
        for _ in range(200):
            connection.sendall(head("GET", "/usage", key))
            assert read_answer(connection).startswith(b"HTTP/1.1 200 ")
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_head_needs_the_scope_that_get_needs(connect, account, method):
    secret = issue_key(account, label="writer", scopes=["checkpoints:write"])[1]
    assert connect(secret).request(method, "/workflows/w").status_code == 403
