"""Whatever goes wrong, wherever it goes wrong, the answer has the one shape and a request id of its own."""

import uuid

import pytest
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import Http404
from rest_framework import exceptions as drf

from snapstate_project.common.errors import ServiceUnavailable, as_api_error, error_response

SAVE = b'{"workflow_id": "w", "step": 1, "state": {}}'
JSON = {"Content-Type": "application/json"}


def assert_shape(response, status, code):
    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/json"
    error = response.json()["error"]
    assert error["code"] == code
    assert error["message"]
    assert error["request_id"] == response.headers["X-Request-Id"]


@pytest.mark.parametrize("path", ["/nothing", "/checkpointsx", "/workflows/a/b/c", "/admin/nothing", "/Health"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_an_unknown_route_is_404(api, path, method):
    assert_shape(api.request(method, path), 404, "NOT_FOUND")


@pytest.mark.parametrize("path", ["/v1/workflows/w/resume", "/api/checkpoints", "/checkpoints/"])
def test_a_base_url_with_a_prefix_or_a_slash_too_many_is_told_apart_from_what_is_not_there(api, path):
    assert "no prefix" in api.get(path).json()["error"]["message"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "/checkpoints"), ("GET", "/checkpoints"), ("POST", "/usage"), ("POST", "/health"), ("POST", "/"),
     ("DELETE", "/openapi.json"), ("PROPFIND", "/workflows")],
)  # fmt: skip
def test_a_method_that_is_not_there_is_405_and_names_those_that_are(api, method, path):
    response = api.request(method, path)
    assert_shape(response, 405, "METHOD_NOT_ALLOWED")
    assert method not in response.headers["Allow"].split(", ")


@pytest.mark.parametrize(
    "headers",
    [{"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"},
     {"Content-Type": "application/json; charset=utf-16"}, {**JSON, "Content-Encoding": "gzip"}, {}],
)  # fmt: skip
def test_a_body_that_is_not_plain_json_is_415(api, headers):
    assert_shape(api.post("/checkpoints", content=SAVE, headers=headers), 415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xef\xbb\xbf{}", '{"a": 1}'.encode("utf-16"), b'{"a": "\xff"}'])
def test_a_body_that_is_no_json_object_is_400(api, body):
    assert_shape(api.post("/checkpoints", content=body, headers=JSON), 400, "VALIDATION_ERROR")


@pytest.mark.parametrize("path", ["/workflows/w/resume", "/workflows", "/usage", "/health", "/ready"])
def test_an_unknown_query_parameter_is_400_and_named(api, path):
    response = api.get(path, params={"colour": "blue"})
    assert_shape(response, 400, "VALIDATION_ERROR")
    assert response.json()["error"]["details"][0]["path"] == "colour"


def test_query_parameters_of_a_save_are_refused(api):
    assert_shape(api.post("/checkpoints?force=1", content=SAVE, headers=JSON), 400, "VALIDATION_ERROR")


@pytest.mark.parametrize("query", ["limit=1&limit=2", "limit=%FF", "limit=", "limit=0", "limit=+1", "limit=1.0"])
def test_query_values_are_strict(api, query):
    assert_shape(api.get(f"/workflows?{query}"), 400, "VALIDATION_ERROR")


@pytest.mark.parametrize("path", ["/checkpoints", "/workflows/w/resume", "/usage", "/admin/accounts"])
def test_without_a_key_it_is_401_and_says_how(anonymous, path):
    response = anonymous.request("POST" if path == "/checkpoints" else "GET", path)
    assert_shape(response, 401, "UNAUTHORIZED")
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_every_answer_has_a_fresh_request_id_whatever_the_caller_sends(api):
    theirs = {"X-Request-Id": str(uuid.uuid4())}
    ids = [api.get(path, headers=theirs).headers["X-Request-Id"] for path in ["/usage", "/usage", "/nothing", "/"]]
    assert len({*ids, theirs["X-Request-Id"]}) == 5
    assert {uuid.UUID(request_id).version for request_id in ids} == {4}
    assert {str(uuid.UUID(request_id)) for request_id in ids} == set(ids)


def test_what_libraries_raise_has_a_code_of_ours():
    theirs = [Http404(), PermissionDenied(), drf.NotAuthenticated(), drf.ParseError(), drf.Throttled(1.2), KeyError()]
    codes = [as_api_error(error).status for error in [*theirs, OperationalError("down"), drf.MethodNotAllowed("PUT")]]
    assert codes == [404, 403, 401, 400, 429, 500, 503, 405]


def test_nested_validation_errors_become_paths():
    error = as_api_error(drf.ValidationError({"a": {"b": ["wrong"]}, "c": [{}, {"d": ["bad", "worse"]}]}))
    assert [(d["path"], d["message"]) for d in error.details or []] == [
        ("a.b", "wrong"),
        ("c[1].d", "bad"),
        ("c[1].d", "worse"),
    ]


def test_an_outage_is_one_line_a_second_in_the_log(caplog):
    reason = f"{uuid.uuid4()} is away"
    for _ in range(100):
        error_response(ServiceUnavailable(reason), "id")
    assert caplog.text.count(reason) == 1
