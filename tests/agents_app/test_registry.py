"""The registry over HTTP: who registers, what is kept, who is refused."""

import uuid
from importlib import import_module

import pytest
from django.test.utils import override_settings

from agents_app.models import Agent
from tests.events.steps import at_once

METADATA = '{"model":"opus",  "big":9007199254740993,"z":-0.0,"e":1E2,"n":"a\\u0000b","__proto__":{"a.b":[]}}'
FIELDS = {"id", "agent_id", "name", "description", "capabilities", "metadata", "last_seen_at", "created_at"}
WHOLE = {"agent_id": "bot", "name": "Bot", "description": "Searches", "capabilities": ["search", "sum up"]}


def post(api, text):
    return api.post("/agents", content=text.encode(), headers={"Content-Type": "application/json"})


def register(api, agent_id="bot", **fields):
    return api.post("/agents", json={"agent_id": agent_id, **fields})


def test_an_agent_is_registered(api):
    answer = register(api, **{**WHOLE, "metadata": {"model": "opus"}})
    record = answer.json()
    assert (answer.status_code, set(record)) == (201, FIELDS)
    assert {name: record[name] for name in WHOLE} == WHOLE
    assert (record["metadata"], record["last_seen_at"]) == ({"model": "opus"}, None)
    assert api.get("/agents/bot").json() == record


def test_an_agent_needs_nothing_but_its_id(api):
    record = register(api).json()
    assert (record["name"], record["description"], record["capabilities"], record["metadata"]) == (None, None, [], {})


def test_what_is_left_out_keeps_its_value(api):
    first = register(api, **WHOLE, metadata={"v": 1}).json()
    again = register(api, name="Other")
    assert (again.status_code, again.json()) == (201, {**first, "name": "Other"})
    assert register(api, description=None, capabilities=[]).json() == {
        **first,
        "name": "Other",
        "description": None,
        "capabilities": [],
    }


def test_metadata_comes_back_byte_for_byte(api):
    answer = post(api, f'{{"agent_id": "bot", "metadata": {METADATA}}}')
    assert f'"metadata":{METADATA},' in answer.text
    assert f'"metadata":{METADATA},' in api.get("/agents/bot").text
    assert f'"metadata":{METADATA},' in api.get("/agents").text


@pytest.mark.parametrize("text", ["a\x00b", "é\u0301🤖\\0", 'quote"<b>', "\\", " "])
def test_any_text_is_kept(api, text):
    register(api, name=text, description=text, capabilities=[text, "https://Ex.com/A"])
    record = api.get("/agents/bot").json()
    assert (record["name"], record["description"]) == (text, text)
    assert record["capabilities"] == [text, "https://Ex.com/A"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ("{}", "agent_id"),
        ('{"agent_id": ""}', "agent_id"),
        ('{"agent_id": "a b"}', "agent_id"),
        (f'{{"agent_id": "{"a" * 256}"}}', "agent_id"),
        ('{"agent_id": 7}', "agent_id"),
        ('{"agent_id": "a", "name": 7}', "name"),
        (f'{{"agent_id": "a", "name": "{"a" * 256}"}}', "name"),
        ('{"agent_id": "."}', "agent_id"),
        ('{"agent_id": ".."}', "agent_id"),
        ('{"agent_id": "a", "capabilities": "all"}', "capabilities"),
        ('{"agent_id": "a", "capabilities": ["x", 7]}', "capabilities[1]"),
        ('{"agent_id": "a", "capabilities": null}', "capabilities"),
        ('{"agent_id": "a", "metadata": []}', "metadata"),
        ('{"agent_id": "a", "metadata": {"x": [1, NaN]}}', "metadata.x[1]"),
        ('{"agent_id": "a", "metadata": {"x": 1e400}}', "metadata.x"),
        (f'{{"agent_id": "a", "metadata": {'{"a":' * 101 + "1" + "}" * 101}}}', "metadata"),
        (f'{{"agent_id": "a", "metadata": {{"x": "{"y" * 65_536}"}}}}', "metadata"),
        ('{"agent_id": "a", "last_seen_at": null}', "last_seen_at"),
        ("[]", "body"),
        ('{"agent_id": "a"', "agent_id"),
    ],
)
def test_what_is_no_agent_is_refused_with_its_place(api, body, path):
    answer = post(api, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "VALIDATION_ERROR")
    assert answer.json()["error"]["details"][0]["path"] == path
    assert api.get("/agents").json()["agents"] == []


def test_an_agent_is_changed(api):
    record = register(api, **WHOLE).json()
    answer = api.patch("/agents/bot", json={"capabilities": ["fly"], "name": None})
    assert (answer.status_code, answer.json()) == (200, {**record, "capabilities": ["fly"], "name": None})
    assert api.get("/agents/bot").json() == answer.json()


@pytest.mark.parametrize("body", [{}, {"agent_id": "other"}, {"metadata": 1}])
def test_a_change_of_nothing_is_refused(api, body):
    register(api)
    assert api.patch("/agents/bot", json=body).status_code == 400


def test_an_agent_is_deleted(api):
    register(api)
    assert (api.delete("/agents/bot").status_code, api.delete("/agents/bot").status_code) == (204, 404)
    assert api.get("/agents").json()["agents"] == []


@pytest.mark.parametrize("agent_id", ["missing", "a%20b", "a%2Fb", "é", "a" * 256])
@pytest.mark.parametrize(("method", "body"), [("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)])
def test_an_agent_that_is_not_there_is_not_found(api, agent_id, method, body):
    answer = api.request(method, f"/agents/{agent_id}", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "AGENT_NOT_FOUND")


@pytest.mark.parametrize("agent_id", ["a", "A.b:c-d_9", "...", ".a", "a" * 255])
def test_every_valid_id_is_found(api, agent_id):
    register(api, agent_id)
    path = agent_id.replace(".", "%2E")
    assert api.get(f"/agents/{path}").json()["agent_id"] == agent_id


def test_a_stranger_finds_changes_and_deletes_nothing(api, stranger_api):
    record = register(api, **WHOLE).json()
    answers = [
        stranger_api.get("/agents/bot"),
        stranger_api.patch("/agents/bot", json={"name": "mine"}),
        stranger_api.delete("/agents/bot"),
    ]
    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert stranger_api.get("/agents").json()["agents"] == []
    assert register(stranger_api, name="Same id").status_code == 201
    assert api.get("/agents/bot").json() == record


def test_the_scope_is_needed(connect, account):
    scopes = ["checkpoints:write", "checkpoints:read", "analytics:read", "webhooks:manage"]
    other = connect(import_module("accounts.services").issue_key(account, label="other", scopes=scopes)[1])
    calls = [
        ("GET", "/agents"),
        ("POST", "/agents"),
        ("GET", "/agents/a"),
        ("PATCH", "/agents/a"),
        ("DELETE", "/agents/a"),
    ]
    assert {other.request(method, path, json={}).status_code for method, path in calls} == {403}


def test_what_the_routes_do_not_know_is_refused(api):
    assert api.get("/agents?page=1").status_code == 400
    assert api.delete("/agents").status_code == 405
    assert api.get("/agents/a/b").json()["error"]["code"] == "NOT_FOUND"


def test_of_eighty_racing_registrations_with_forty_nine_there_one_is_taken(account):
    agents_app = import_module("agents_app.services")
    Agent.objects.bulk_create(Agent(account=account, agent_id=f"old-{number}") for number in range(49))
    outcomes = []

    def attempt(number):
        try:
            outcomes.append(agents_app.register_agent(account.id, f"new-{number}", {}))
        except import_module("agents_app.errors").MaxAgentsReached as full:
            outcomes.append(full)

    at_once(*[lambda number=number: attempt(number) for number in range(80)])
    assert (len(outcomes), sum(isinstance(outcome, Agent) for outcome in outcomes)) == (80, 1)
    assert Agent.objects.filter(account=account).count() == 50


def test_of_racing_registrations_over_http_no_more_than_the_limit_are_taken(api, account):
    Agent.objects.bulk_create(Agent(account=account, agent_id=f"old-{number}") for number in range(49))
    answers = []
    at_once(*[lambda number=number: answers.append(register(api, f"new-{number}")) for number in range(80)])
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 79
    refused = next(answer for answer in answers if answer.status_code == 400)
    assert refused.json()["error"]["code"] == "MAX_AGENTS_REACHED"


def test_at_the_limit_those_who_are_there_can_still_change(api):
    with override_settings(MAX_AGENTS_PER_ACCOUNT=1):
        register(api)
        assert register(api, "other").json()["error"]["code"] == "MAX_AGENTS_REACHED"
        assert register(api, name="Changed").json()["name"] == "Changed"
        api.delete("/agents/bot")
        assert register(api, "other").status_code == 201


def test_one_agent_registered_by_many_at_once_is_one_agent(api, account):
    answers = []
    at_once(*[lambda: answers.append(register(api, name=uuid.uuid4().hex))] * 16)
    assert {answer.status_code for answer in answers} == {201}
    assert Agent.objects.filter(account=account).count() == 1
