"""Promise 5: on every route, with every method, another account's ids answer exactly like ids that do not exist."""

import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import Account, ApiKey
from checkpoints.models import Workflow
from tests.checkpoints.steps import resume, save

OPERATORS_PAGES = "admin/"
PAGES = {"", r"^docs(?:/(?P<path>.*))?$", "llms.txt", "admin", "^admin/.*[^/]$", "^.*"}
NOBODYS = PAGES | {"health", "ready", "metrics", "openapi.json", "billing/stripe-webhook"}
"""Routes that know no account, and those that answer what has no route."""
OWN = {"workflows", "usage", "agents", "webhooks", "checkpoints", "analytics/overview", "analytics/failures",
       "analytics/agents"}  # fmt: skip
"""Routes without an id: they show the caller's own, and make the caller's own."""
BODIES = {
    "PATCH workflows/{workflow_id}": {"pinned": True},
    "PATCH agents/{agent_id}": {"name": "taken over"},
    "PATCH webhooks/{webhook_id}": {"description": "taken over"},
}
NAMED = {
    "workflows/<str:workflow_id>", "workflows/<str:workflow_id>/resume", "workflows/<str:workflow_id>/replay",
    "workflows/<str:workflow_id>/diff", "checkpoints/<str:checkpoint_id>", "agents/<str:agent_id>",
    "webhooks/<str:webhook_id>", "webhooks/<str:webhook_id>/rotate-secret", "webhooks/<str:webhook_id>/test",
    "webhooks/<str:webhook_id>/deliveries", "webhooks/<str:webhook_id>/deliveries/<str:delivery_id>/resend",
    "analytics/workflows/<str:workflow_id>",
}  # fmt: skip
"""Routes whose ids are somebody's. Those of the Admin API are walked as well; they know no key of an account."""


class Route(NamedTuple):
    text: str
    pattern: URLPattern

    @property
    def methods(self) -> list[str]:
        """Those of the view; a method that is not asked for by name is one more that is tried."""
        view: Any = getattr(self.pattern.callback, "cls", None)
        return [name for name in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE") if hasattr(view, name.lower())]

    def path(self, ids: dict[str, str]) -> str:
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda name: ids[name[1]], self.text)


def routes(patterns: list[Any], before: str = "") -> Iterator[Route]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, before + str(pattern.pattern))
        else:
            yield Route(before + str(pattern.pattern), pattern)


def api_routes() -> dict[str, Route]:
    return {route.text: route for route in routes(get_resolver().url_patterns) if not is_page(route.text)}


def is_page(text: str) -> bool:
    """Django's admin; the Admin API's routes have no slash at their end."""
    return text.startswith(OPERATORS_PAGES) and text.endswith(("/", "$"))


def is_operators(text: str) -> bool:
    return text.startswith(OPERATORS_PAGES) and not is_page(text)


@pytest.fixture
def theirs(api: httpx.Client, account: Account, intake: Callable[[], None]) -> dict[str, str]:
    """Ids of everything that the owner has."""
    mark = f"secret-{uuid.uuid4().hex}"
    save(api, mark, 1, {"mark": mark}, label=mark, agent_id=mark, metadata={"mark": mark})
    api.post("/agents", json={"agent_id": mark, "name": mark}).raise_for_status()
    hook = api.post("/webhooks", json={"url": f"https://example.com/{mark}", "events": ["checkpoint.saved"]}).json()
    save(api, mark, 2, {"mark": mark}, label=mark)
    intake()
    deliveries = api.get(f"/webhooks/{hook['webhook_id']}/deliveries").json()["deliveries"]
    return {
        "workflow_id": mark, "checkpoint_id": f"cp_{mark}_001", "agent_id": mark, "webhook_id": hook["webhook_id"],
        "delivery_id": deliveries[0]["delivery_id"], "account_id": str(account.pk),
        "key_id": str(ApiKey.objects.get(account=account).pk),
    }  # fmt: skip


@pytest.fixture
def missing(theirs: dict[str, str]) -> dict[str, str]:
    """Ids of the same shape that nobody has."""
    return {name: re.sub("[0-9a-f]{8}", "0" * 8, text, count=1) for name, text in theirs.items()}


def told(answer: httpx.Response, ids: dict[str, str]) -> tuple[int, str, list[str]]:
    """All that a caller learns, but for the request's own id and the ids it sent itself."""
    text = answer.text.replace(answer.headers["X-Request-Id"], "")
    for name, sent in ids.items():
        text = text.replace(sent, name)
    return answer.status_code, text, sorted(answer.headers)


def test_every_route_has_a_case() -> None:
    assert {text for text in api_routes() if not is_operators(text)} == NOBODYS | OWN | NAMED


def test_every_id_of_somebody_answers_a_stranger_like_one_that_does_not_exist(
    api: httpx.Client, stranger_api: httpx.Client, theirs: dict[str, str], missing: dict[str, str]
) -> None:
    for text, route in api_routes().items():
        for method in route.methods if text in NAMED or is_operators(text) else []:
            body = BODIES.get(f"{method} {re.sub('<str:', '{', text).replace('>', '}')}")
            asked = [stranger_api.request(method, route.path(ids), json=body) for ids in (theirs, missing)]
            assert told(asked[0], theirs) == told(asked[1], missing), f"{method} {text}"
            assert asked[0].status_code in (404, 401) or text.endswith("/replay"), f"{method} {text}: {asked[0].text}"
    assert resume(api, theirs["workflow_id"]).json()["total_checkpoints"] == 2
    for path in ("agents/{agent_id}", "webhooks/{webhook_id}", "workflows/{workflow_id}"):
        assert api.get("/" + path.format(**theirs)).status_code == 200


def test_no_guard_tells_a_stranger_what_is_there(
    api: httpx.Client, stranger_api: httpx.Client, theirs: dict[str, str], missing: dict[str, str]
) -> None:
    etag = resume(api, theirs["workflow_id"]).headers["ETag"]
    for guard, status in (({"If-Match": "*"}, 409), ({"If-Match": etag}, 409), ({"If-None-Match": "*"}, 201)):
        for ids in (theirs, missing):
            answer = save(stranger_api, ids["workflow_id"], 1, {"mark": 0}, headers=guard)
            assert (answer.status_code, answer.json().get("existing")) == (status, None)
    assert resume(api, theirs["workflow_id"]).headers["ETag"] == etag


def test_lists_and_usage_show_a_stranger_nothing_of_anybody(stranger_api: httpx.Client, theirs: dict[str, str]) -> None:
    mark = theirs["workflow_id"]
    filters = ["", f"?q={mark}", f"?label={mark}", f"?agent_id={mark}", f"?metadata.mark={mark}", "?status=active"]
    reports = [f"/analytics/{report}" for report in ("overview", "failures", f"failures?agent_id={mark}", "agents")]
    for path in ("/usage", "/agents", "/webhooks", *reports, *(f"/workflows{query}" for query in filters)):
        answer = stranger_api.get(path)
        assert answer.status_code == 200
        assert mark not in answer.text.replace("\\", "")
    counted = [used.get("count", used.get("current")) for used in stranger_api.get("/usage").json()["usage"].values()]
    assert set(counted) == {0}


def test_what_a_stranger_makes_under_the_same_ids_is_the_strangers(
    api: httpx.Client, stranger_api: httpx.Client, theirs: dict[str, str]
) -> None:
    mark = theirs["workflow_id"]
    before = [api.get(path).text for path in (f"/workflows/{mark}/resume", f"/agents/{mark}", f"/workflows/{mark}")]
    assert save(stranger_api, mark, 9, {"mine": 1}, agent_id=mark).status_code == 201
    assert stranger_api.post("/agents", json={"agent_id": mark, "name": "mine"}).status_code == 201
    assert stranger_api.delete(f"/agents/{mark}").status_code == 204
    assert stranger_api.delete(f"/workflows/{mark}").status_code == 204
    assert [
        api.get(path).text for path in (f"/workflows/{mark}/resume", f"/agents/{mark}", f"/workflows/{mark}")
    ] == before


@pytest.mark.parametrize("caller", ["stranger_api", "anonymous"])
def test_the_operators_pages_send_everybody_else_to_their_login(
    request: pytest.FixtureRequest, caller: str, theirs: dict[str, str], admin_client: Client
) -> None:
    client: httpx.Client = request.getfixturevalue(caller)
    ids = [str(Workflow.objects.get(workflow_id=theirs["workflow_id"]).pk), str(User.objects.latest("pk").pk), "0"]
    for route in routes(get_resolver().url_patterns):
        if is_page(route.text) and not re.search(r"[$^]|login", route.text):
            for each in (*ids, theirs["account_id"], theirs["key_id"]):
                answer = client.get("/" + re.sub("<[^>]+>", each, route.text), follow_redirects=False)
                assert answer.status_code in (302, 405), route.text
                assert answer.status_code == 405 or answer.headers["Location"].startswith("/admin/"), route.text
