"""/openapi.json is valid, and complete: every operation tells its errors and its headers."""

import json
import re
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from openapi_spec_validator import validate

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def document(base_url):
    return httpx.get(f"{base_url}/openapi.json", trust_env=False).json()


def operations(document):
    return [
        (path, method, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    ]


def test_it_is_valid_openapi_3_1(document):
    assert document["openapi"].startswith("3.1")
    validate(document)


def test_it_is_the_one_that_is_committed(document):
    assert json.loads((Path(settings.BASE_DIR) / "docs/openapi.json").read_text()) == document


def test_every_answer_has_a_request_id_and_every_error_the_one_shape(document):
    for path, method, operation in operations(document):
        assert {"400", "405", "500"} <= set(operation["responses"]), (path, method)
        for code, response in operation["responses"].items():
            assert "X-Request-Id" in response["headers"], (path, method, code)
            if code in ("400", "401", "403", "405", "413", "415", "429", "500"):
                assert response["content"]["application/json"]["schema"]["$ref"].endswith("/ErrorResponse")


def test_whoever_needs_a_key_can_be_refused_one(document):
    for path, method, operation in operations(document):
        if operation.get("security"):
            needs_key = operation["security"] == [{"apiKey": []}]
            codes = {"401", "403", "429"} if needs_key else {"401"}
            assert {"401", "403", "429"} & set(operation["responses"]) == codes, (path, method)
    schemes = {
        name for _, _, operation in operations(document) for each in operation.get("security", []) for name in each
    }
    assert schemes == {"apiKey", "operator"}


def test_every_operation_with_a_key_names_its_scope_but_the_one_that_needs_none(document):
    unnamed = [
        path
        for path, _, operation in operations(document)
        if operation.get("security") == [{"apiKey": []}]
        and not re.search(r"^Scope: `[a-z]+:[a-z]+`\.\Z", operation["description"], re.MULTILINE)
    ]
    assert unnamed == ["/usage"]


def test_what_is_said_to_operators_is_of_no_key_and_no_scope(document):
    for path, method, operation in operations(document):
        if operation.get("security") == [{"operator": []}]:
            said = [response["description"] for response in operation["responses"].values()]
            assert not [text for text in said if re.search("scope|valid key|another account's", text)], (path, method)


@pytest.mark.parametrize(
    ("operation", "code", "named"),
    [
        *((f"{method} /agents/{{agent_id}}", "404", "AGENT_NOT_FOUND") for method in ("get", "patch", "delete")),
        ("post /agents", "400", "MAX_AGENTS_REACHED"),
        ("post /admin/accounts/{account_id}/keys", "400", "MAX_KEYS_REACHED"),
        ("post /admin/accounts/{account_id}/keys", "409", "is closed"),
        ("patch /admin/accounts/{account_id}", "409", "to be deleted"),
        ("post /admin/accounts", "409", "email"),
    ],
)
def test_an_error_is_called_what_it_is(document, operation, code, named):
    method, path = operation.split()
    said = document["paths"][path][method]["responses"][code]["description"]
    assert named in said
    assert "`NOT_FOUND`" not in said


def test_every_route_that_answers_is_described(document):
    expected = {"/checkpoints", "/workflows", "/usage", "/health", "/ready", "/admin/accounts"}
    assert expected <= set(document["paths"])
    assert document["paths"]["/checkpoints"]["post"]["responses"]["409"]


def test_operations_are_named_for_generated_code(document):
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name)] == []
    assert {"saveCheckpoint", "resumeWorkflow", "replayWorkflow", "registerAgent", "registerWebhook"} <= set(names)


def test_every_enum_has_a_name_and_json_of_the_clients_own_is_open(document):
    schemas = document["components"]["schemas"]
    assert [name for name, schema in schemas.items() if '"enum"' in json.dumps(schema) and "enum" not in schema] == []
    assert '"enum"' not in json.dumps(document["paths"])
    assert schemas["JsonObject"]["additionalProperties"] is True
    assert schemas["SaveRequest"]["properties"]["state"] == {"$ref": "#/components/schemas/JsonObject"}


def test_every_event_that_can_be_subscribed_to_is_described(document):
    assert document["webhooks"].keys() == {
        *document["components"]["schemas"]["WebhookEventType"]["enum"],
        "webhook.test",
    }
    assert "state" not in document["components"]["schemas"]["CheckpointSavedData"]["properties"]


@pytest.mark.parametrize(("body", "field"), [("AccountRegistration", "name"), ("KeyRequest", "label")])
def test_a_text_that_may_hold_all_but_nul_says_so(document, body, field):
    pattern = document["components"]["schemas"][body]["properties"][field]["pattern"]
    assert [bool(re.search(pattern, text)) for text in ("", "é\n", "a\0b")] == [True, True, False]


def test_a_text_with_a_pattern_of_its_own_keeps_it(document):
    assert document["components"]["schemas"]["AccountChanges"]["properties"]["plan"]["pattern"].startswith("^[a-z0-9]")
