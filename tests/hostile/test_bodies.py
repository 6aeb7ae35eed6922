"""Hostile inputs, bodies: too large, cut off, packed or otherwise encoded; one error shape, and 413 early."""

import gzip
import json
import select
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import settings

from tests.common.raw_http import read_answer
from tests.hostile.reading import body, error_of, place_of, save, saved, send, states, workflow

LARGEST = 1_048_576
SAVE = body("wf", 1, "{}")
ENDLESS = 50 * 1024 * 1024
BOMB = gzip.compress(b"0" * ENDLESS, compresslevel=1)
WITH_BODY = ["POST /checkpoints", "PATCH /workflows/wf", "POST /admin/accounts", "PATCH /admin/accounts/{account}",
             "POST /admin/accounts/{account}/keys"]  # fmt: skip
ANY = [
    *WITH_BODY, "GET /workflows/wf/resume", "GET /workflows/wf/replay", "GET /workflows/wf/diff", "GET /workflows",
    "GET /workflows/wf", "DELETE /workflows/wf", "GET /checkpoints/cp_wf_001", "GET /usage", "GET /health",
    "GET /ready", "GET /openapi.json", "GET /", "GET /admin/accounts", "GET /admin/accounts/{account}",
    "GET /admin/accounts/{account}/keys", "POST /nothing", "POST /admin/login/",
]  # fmt: skip

type Ask = Callable[..., httpx.Response]


@pytest.fixture
def ask(api: httpx.Client, operator_api: httpx.Client, account: Any) -> Ask:
    """Sends a body to a route, as whoever may call it."""

    def send_to(route: str, content: bytes, **headers: str) -> httpx.Response:
        method, path = route.format(account=account.id).split()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        caller = operator_api if path.startswith("/admin") else api
        return caller.request(method, path, content=content, headers={"Content-Type": "application/json", **named})

    return send_to


def padded(size: int) -> str:
    """A state of exactly that many bytes."""
    return '{"a":"' + "x" * (size - 8) + '"}'


def test_a_state_of_exactly_the_limit_is_taken(api: httpx.Client, wf: str, settle: Callable[[], None]) -> None:
    assert saved(save(api, wf, 1, padded(LARGEST))).json()["size_bytes"] == LARGEST
    settle()
    assert states(api, wf, 1) == {padded(LARGEST)}


def test_the_limit_counts_bytes_not_characters(api: httpx.Client, wf: str) -> None:
    state = '{"a":"' + "é" * ((LARGEST - 8) // 2) + '"}'
    assert saved(save(api, wf, 1, state)).json()["size_bytes"] == LARGEST
    error_of(save(api, wf, 2, state.replace("é", "éé", 1)), 413, "PAYLOAD_TOO_LARGE")


def test_the_largest_state_may_have_the_largest_metadata(api: httpx.Client, wf: str) -> None:
    saved(save(api, wf, 1, padded(LARGEST), metadata=padded(65_536), label=json.dumps("🤖" * 256)))
    assert place_of(save(api, wf, 2, metadata=padded(65_537))) == "metadata"


@pytest.mark.parametrize("size", [LARGEST + 1, 3 * LARGEST])
def test_a_larger_state_is_413(api: httpx.Client, wf: str, size: int) -> None:
    error_of(save(api, wf, 1, padded(size)), 413, "PAYLOAD_TOO_LARGE")
    assert api.get(workflow(wf, "resume")).status_code == 404


@pytest.mark.parametrize("route", ANY)
@pytest.mark.parametrize("length", ["chunked", "announced"])
def test_a_body_without_end_is_413_early_on_every_route(
    base_url: str, key: str, account: Any, route: str, length: str
) -> None:
    method, path = route.format(account=account.id).split()
    token = settings.ADMIN_SECRET if path.startswith("/admin/accounts") else key
    framing = "Transfer-Encoding: chunked" if length == "chunked" else f"Content-Length: {ENDLESS}"
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
    answer, sent = pour(base_url, f"{head}Content-Type: application/json\r\n{framing}\r\n\r\n", length == "chunked")
    assert answer.startswith(b"HTTP/1.1 413 "), answer[:200]
    assert b'"code":"PAYLOAD_TOO_LARGE"' in answer
    assert sent < 8 * LARGEST


def pour(base_url: str, head: str, chunked: bool) -> tuple[bytes, int]:
    """Sends until it is answered: what came back, and how much of the body had been sent by then."""
    parts, sent = urlsplit(base_url), 0
    piece = b"10000\r\n" + b" " * 65_536 + b"\r\n" if chunked else b" " * 65_536
    with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
        connection.sendall(head.encode())
        while sent < ENDLESS:
            readable, writable, _ = select.select([connection], [connection], [], 10)
            if readable:
                return read_answer(connection), sent
            if writable:
                sent += connection.send(piece[sent % len(piece) :])
    return b"", sent


@pytest.mark.parametrize("route", WITH_BODY)
@pytest.mark.parametrize("packing", ["gzip", "br", "deflate", "zstd", "gzip, gzip"])
def test_a_packed_body_is_415_and_stays_packed(ask: Ask, route: str, packing: str) -> None:
    error_of(ask(route, BOMB, Content_Encoding=packing), 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("route", WITH_BODY)
@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/vnd.api+json",
     "application/json; charset=utf-16", "application/json; charset=latin-1", "application/json; charset=nonsense",
     "application/json; charset*=nonsense''%ff", "application/json; charset*=utf-8''%00",
     "application/json; charset*0*=a''b''c", "application/json, text/plain", "*/*"],
)  # fmt: skip
def test_a_body_of_another_kind_is_415(ask: Ask, route: str, kind: str) -> None:
    error_of(ask(route, b"{}", Content_Type=kind), 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON;charset=UTF-8", 'application/json; charset="utf-8"']
)
def test_json_may_be_said_in_other_words(api: httpx.Client, wf: str, kind: str) -> None:
    saved(send(api, body(wf, 1, "{}"), Content_Type=kind))


BROKEN = {
    "empty": b"",
    "spaces": b" \n ",
    "cut off": SAVE[:-1],
    "cut off in a string": SAVE[:5],
    "an array": b"[]",
    "null": b"null",
    "a number": b"1",
    "a string": b'"wf"',
    "UTF-16": SAVE.decode().encode("utf-16"),
    "UTF-16 without a mark": SAVE.decode().encode("utf-16-le"),
    "UTF-32": SAVE.decode().encode("utf-32"),
    "a byte order mark": b"\xef\xbb\xbf" + SAVE,
    "a byte that is no UTF-8": SAVE.replace(b"{}", b'{"a":"\xff"}'),
    "an overlong letter": SAVE.replace(b"{}", b'{"a":"\xc0\xaf"}'),
    "an encoded surrogate": SAVE.replace(b"{}", b'{"a":"\xed\xa0\xbd"}'),
    "two documents": SAVE + SAVE,
    "NUL": b"\0",
    "deep": b"[" * 200_000,
    "Python": b"{'workflow_id': 'wf'}",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("route", WITH_BODY)
def test_what_is_no_json_object_is_400(ask: Ask, api: httpx.Client, route: str, content: bytes) -> None:
    if route.endswith("/keys") and content == b"":
        pytest.skip("every field of a new key may be left out, and so may the body")
    save(api, "wf", 7)
    error_of(ask(route, content), 400, "VALIDATION_ERROR")


def test_the_place_of_a_fault_is_never_longer_than_one_can_read(api: httpx.Client, wf: str) -> None:
    name = "k" * 300_000
    for answer in (save(api, wf, 1, **{name: "1"}), save(api, wf, 1, f'{{"{name}":NaN}}')):
        assert name[:500] in place_of(answer)
        assert len(answer.content) < 10_000


def test_of_a_field_given_twice_the_last_counts(api: httpx.Client, wf: str) -> None:
    twice = f'{{"workflow_id":"no","workflow_id":"{wf}","step":1,"step":2,"state":{{"a":1}},"state":{{"b":1}}}}'
    assert saved(send(api, twice.encode())).json()["checkpoint_id"] == f"cp_{wf}_002"
    assert states(api, wf, 2) == {'{"b":1}'}
