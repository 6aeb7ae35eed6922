"""What the API says no with becomes one exception each, with all that it says."""

import pickle

import pytest

from snapstate_sdk import (
    AuthError,
    CheckpointError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PayloadTooLargeError,
    RateLimitError,
    ServiceUnavailableError,
    SnapStateClient,
    SnapStateError,
    UnsendableValueError,
    ValidationError,
)

KINDS = [
    (400, "VALIDATION_ERROR", ValidationError),
    (400, "MAX_AGENTS_REACHED", ValidationError),
    (401, "UNAUTHORIZED", AuthError),
    (403, "FORBIDDEN", ForbiddenError),
    (404, "NOT_FOUND", NotFoundError),
    (404, "AGENT_NOT_FOUND", NotFoundError),
    (405, "METHOD_NOT_ALLOWED", SnapStateError),
    (409, "CONFLICT", ConflictError),
    (413, "PAYLOAD_TOO_LARGE", PayloadTooLargeError),
    (415, "UNSUPPORTED_MEDIA_TYPE", SnapStateError),
    (429, "RATE_LIMITED", RateLimitError),
    (500, "INTERNAL_ERROR", SnapStateError),
    (503, "SERVICE_UNAVAILABLE", ServiceUnavailableError),
]


@pytest.mark.parametrize(("status", "code", "kind"), KINDS)
def test_each_status_is_an_exception_of_its_own(server, refused, status, code, kind):
    server.script = [refused(status, code, headers={"Retry-After": "7"})]
    with SnapStateClient("snp_x", server.url, max_retries=1) as client, pytest.raises(CheckpointError) as caught:
        client.save("wf", 1, {})
    error = caught.value
    assert (type(error), error.status_code, error.code, error.request_id) == (kind, status, code, "req-1")
    assert str(error) == f"{code}, so to speak"
    assert f"status_code={status}, code={code!r}" in repr(error)
    if isinstance(error, RateLimitError | ServiceUnavailableError):
        assert error.retry_after == 7
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (kind, str(error), vars(error))


def test_a_conflict_names_what_is_there(server, client, refused):
    there = {"checkpoint_id": "cp_wf_001", "etag": '"1-1-a"'}
    for existing in (there, None):
        server.script = [refused(409, "CONFLICT", existing=existing)]
        with pytest.raises(ConflictError) as caught:
            client.save("wf", 1, {})
        assert caught.value.existing == existing


def test_a_refused_request_names_what_is_wrong(server, client, refused):
    details = [{"path": "step", "message": "must be an integer"}]
    server.script = [refused(400, "VALIDATION_ERROR", error={"details": details})]
    with pytest.raises(ValidationError) as caught:
        client.save("wf", "7", {})
    assert caught.value.details == details


@pytest.mark.parametrize("body", [b"", b"<h1>Teapot</h1>", b'"text"', b'{"error": "text"}', b"\xff\xfe", b"null"])
def test_an_error_that_is_not_the_apis_is_still_one(server, client, reply, body):
    server.script = [reply(418, body, {"Content-Type": "text/html", "X-Request-Id": "from-a-proxy"})]
    with pytest.raises(SnapStateError) as caught:
        client.resume("wf")
    assert (caught.value.status_code, caught.value.request_id) == (418, "from-a-proxy")
    assert str(caught.value)


def test_what_was_refused_unsent_survives_pickling():
    error = UnsendableValueError("state.x", "nan is nothing")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.details, again.code) == (str(error), error.details, "VALIDATION_ERROR")


@pytest.mark.parametrize("key", ["", "  ", None])
def test_a_client_without_a_key_is_refused(monkeypatch, key):
    monkeypatch.delenv("SNAPSTATE_API_KEY", raising=False)
    with pytest.raises(ValueError, match="api_key is required"):
        SnapStateClient(key)


@pytest.mark.parametrize("key", ["snp_é", "snp_a b", "snp_a\nb"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key):
    with pytest.raises(ValueError, match="api_key has characters that no key has") as caught:
        SnapStateClient(key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("body", [b"404 page not found", b"<h1>Not Found</h1>", b"", b'{"message": "no Route"}', b"[]"])
def test_a_404_of_something_in_between_does_not_say_that_nothing_is_saved(server, client, reply, hang_up, body):
    server.script = [reply(404, body), hang_up, reply(404, body)]
    for act in (client.resume, client.erase):
        with pytest.raises(SnapStateError, match="what answered 404 is not SnapState") as caught:
            act("wf")
        assert (type(caught.value), caught.value.status_code) == (SnapStateError, 404)


@pytest.mark.parametrize("rest", ["user:hunter2@host", "hunter2@host/api", "host/?key=hunter2", "host#hunter2"])
def test_an_address_holds_no_password_and_nothing_that_would_be_lost(rest):
    with pytest.raises(ValueError, match="base_url must") as caught:
        SnapStateClient("snp_x", f"https://{rest}")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://x", "//x", "http://", "http://x:y", "http://a b", "http://x/\na"]
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(ValueError, match="base_url must"):
        SnapStateClient("snp_x", url)


def test_key_and_address_come_from_the_environment(monkeypatch, server, reply):
    monkeypatch.setenv("SNAPSTATE_API_KEY", "snp_from_the_environment\n")
    monkeypatch.setenv("SNAPSTATE_API_URL", server.url + "/")
    server.script = [reply(200, {"status": "ok", "redis": "connected"})]
    with SnapStateClient() as client:
        assert client.health()["status"] == "ok"
        assert "snp_" not in repr(client)
    assert (server.seen[0].path, server.seen[0].headers["Authorization"]) == (
        "/health",
        "Bearer snp_from_the_environment",
    )


def test_health_is_an_answer_when_it_is_bad(server, client, reply):
    server.script = [reply(503, {"status": "degraded", "redis": "disconnected"})]
    assert client.health()["redis"] == "disconnected"
