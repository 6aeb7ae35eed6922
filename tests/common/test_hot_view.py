"""HotAPIView: DRF's classes and order, answers of both kinds, and nothing that escapes the one error shape."""

import asyncio
import json

import pytest
from django.test import override_settings
from django.urls import clear_url_caches

from snapstate_project.lean import LeanHandler

JSON = {"content-type": "application/json"}


class Answer:
    def __init__(self, start, body):
        self.status = start["status"]
        self.headers = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        self.body = body
        self.error = json.loads(body)["error"] if self.status >= 400 else None


@pytest.fixture
def ask():
    """Calls the lean handler over the odd views, without a server."""
    with override_settings(ROOT_URLCONF="tests.common.odd_urls"):
        clear_url_caches()
        handler = LeanHandler()
        yield lambda *args, **kwargs: asyncio.run(call(handler, *args, **kwargs))
    clear_url_caches()


async def call(handler, method, path, body=b"", headers=None):
    sent = []
    named = {**JSON, "content-length": str(len(body)), **(headers or {})} if body else (headers or {})
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b""}
    scope["headers"] = [(name.encode(), value.encode()) for name, value in named.items()]

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    await handler(scope, receive, send)
    return Answer(sent[0], b"".join(message["body"] for message in sent[1:]))


def test_bytes_go_through_as_they_came(ask):
    answer = ask("POST", "/workflows/a%2Fb", b'{ "a": 1.0 }')
    assert answer.status == 201
    assert answer.body == b'{"name":"a%2Fb","raw":{ "a": 1.0 }}'
    assert answer.headers["etag"] == '"e"'
    assert answer.headers["content-length"] == str(len(answer.body))


def test_a_plain_method_runs_in_a_thread_and_may_answer_as_drf_does(ask):
    answer = ask("GET", "/workflows/nobody")
    assert json.loads(answer.body) == {"name": "nobody", "users": 0, "id": answer.headers["x-request-id"]}
    assert answer.headers["x-odd"] == "yes"
    assert answer.headers["content-type"] == "application/json"


def test_an_empty_answer_has_neither_type_nor_length(ask):
    answer = ask("DELETE", "/workflows/a")
    assert (answer.status, answer.body) == (204, b"")
    assert not {"content-type", "content-length"} & set(answer.headers)


@pytest.mark.parametrize("headers", [{}, {"sunday": "1"}, {"fast": "1"}])
def test_every_answer_after_authentication_tells_the_rate_limit(ask, headers):
    answer = ask("GET", "/workflows/a", headers=headers)
    limits = [answer.headers[f"ratelimit-{name}"] for name in ("limit", "remaining", "reset")]
    assert limits == ["100", "99", "60"]


def test_a_permission_refuses_in_its_own_words(ask):
    answer = ask("POST", "/workflows/a", b"not json", headers={"sunday": "1", "content-type": "text/plain"})
    assert (answer.status, answer.error["code"], answer.error["message"]) == (403, "FORBIDDEN", "Not on Sundays.")


def test_a_throttle_tells_when_to_come_back(ask):
    answer = ask("GET", "/workflows/a", headers={"fast": "1"})
    assert (answer.status, answer.error["code"], answer.headers["retry-after"]) == (429, "RATE_LIMITED", "2")


def test_a_fault_of_ours_tells_the_caller_nothing_and_the_log_everything(ask, caplog):
    answer = ask("GET", "/checkpoints")
    assert (answer.status, answer.error["code"]) == (500, "INTERNAL_ERROR")
    assert "secret" not in answer.body.decode()
    assert answer.error["request_id"] == answer.headers["x-request-id"]
    assert "ZeroDivisionError" in caplog.text


def test_a_database_that_is_gone_is_503_and_says_when_to_retry(ask):
    answer = ask("POST", "/checkpoints", b"{}")
    assert (answer.status, answer.error["code"], answer.headers["retry-after"]) == (503, "SERVICE_UNAVAILABLE", "1")


def test_an_error_may_have_siblings(ask):
    assert json.loads(ask("PUT", "/checkpoints", b"{}").body)["existing"] is None


@pytest.mark.parametrize("value", ["\u2603", "a\r\nX-Other: b", "a\n", "a\rb"])
def test_a_header_that_cannot_be_sent_is_a_fault_of_ours_and_still_has_the_one_shape(ask, value):
    answer = ask("PATCH", "/checkpoints", json.dumps(value).encode())
    assert (answer.status, answer.error["code"]) == (500, "INTERNAL_ERROR")
    assert answer.error["request_id"] == answer.headers["x-request-id"]


def test_a_query_string_that_is_not_ascii_is_400(ask):
    async def scenario():
        handler, sent = LeanHandler(), []

        async def receive():
            raise AssertionError("there is no body to read")

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/workflows/a", "query_string": b"\xff", "headers": []}
        await handler(scope, receive, send)
        return sent[0]["status"]

    assert asyncio.run(scenario()) == 400
