"""Logs: one JSON object a line, with the request's id, without keys and without rows that Postgres quotes."""

import io
import json
import logging

import pytest
import structlog
from django.conf import settings

from snapstate_project.common import logs
from snapstate_project.common.request_id import client_request_ids, request_ids

QUOTING = "bad snp_0123456789abcdef\nDETAIL:  Failing row contains (the state).\nCONTEXT: the state"
KEY = "snp_0123456789abcdef0123456789abcdef"


@pytest.fixture
def lines():
    """What the configured handler writes, as parsed lines."""
    logs.configure({**settings.LOGGING, "json": True})
    handler = next(h for h in logging.getLogger().handlers if type(h) is logging.StreamHandler)
    stream = handler.stream
    handler.setStream(io.StringIO())
    yield lambda: [json.loads(line) for line in handler.stream.getvalue().splitlines()]
    handler.setStream(stream)


def test_each_line_is_an_object_with_the_requests_id(lines):
    request_ids.set("the-id")
    client_request_ids.set("theirs")
    logging.getLogger("a").warning("said %s", "so")
    structlog.get_logger("b").info("saved", step=3)
    plain, bound = lines()
    assert (plain["event"], plain["request_id"], plain["client_request_id"]) == ("said so", "the-id", "theirs")
    assert (bound["event"], bound["step"], bound["request_id"], bound["level"]) == ("saved", 3, "the-id", "info")


def test_no_line_holds_a_key_or_a_row(lines):
    try:
        raise ValueError(QUOTING)
    except ValueError:
        logging.getLogger("a").exception("with Bearer abcdefghijkl and %s", KEY)
    said = json.dumps(lines())
    assert "ValueError" in said
    for secret in ("0123456789", "abcdefghijkl", "the state"):
        assert secret not in said
