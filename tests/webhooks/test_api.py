"""The nine routes: register, list, change, rotate, test, look and send again; all of it one's own only."""

from datetime import datetime, timedelta
from importlib import import_module

import pytest
from django.utils import timezone

from tests.clients.published import sdk
from tests.webhooks.steps import deliver, delivery, endpoint, happened, queue, saved
from webhooks import services
from webhooks.models import Delivery, Endpoint

URL = "https://hooks.example.com/in?from=us"
MISSING = "wh_" + "0" * 24


@pytest.fixture
def registered(hook):
    return hook(URL, description="first")


def routes(webhook_id, delivery_id="dlv_" + "0" * 32):
    one = f"/webhooks/{webhook_id}"
    return [
        ("GET", one, None),
        ("PATCH", one, {"description": "theirs"}),
        ("DELETE", one, None),
        ("POST", f"{one}/rotate-secret", {}),
        ("POST", f"{one}/test", {}),
        ("GET", f"{one}/deliveries", None),
        ("POST", f"{one}/deliveries/{delivery_id}/resend", {}),
    ]


def test_the_secret_is_shown_once(api, registered):
    assert registered["secret"].startswith("whsec_")
    shown = api.get(f"/webhooks/{registered['webhook_id']}").json()
    assert shown == {name: value for name, value in registered.items() if name != "secret"}
    assert api.get("/webhooks").json() == {"webhooks": [shown], "has_more": False, "next_cursor": None}


def test_registered_is_what_was_asked_for(api, registered):
    assert registered["webhook_id"].startswith("wh_")
    assert (registered["url"], registered["events"]) == (URL, ["checkpoint.saved"])
    assert (registered["description"], registered["status"]) == ("first", "active")
    assert datetime.fromisoformat(registered["created_at"]) <= timezone.now()


def test_the_published_client_registers(base_url, key):
    with sdk.SnapStateClient(key, base_url) as client:
        with_own = client.register_webhook(URL, ["checkpoint.saved", "workflow.resumed", "workflow.expired"], "s3cret")
        without = client.register_webhook(URL, ["checkpoint.saved"])
    assert with_own["secret"] == "s3cret"
    assert without["secret"].startswith("whsec_")
    assert {"webhook_id", "url", "events", "created_at"} <= set(without)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"", "body"),
        (b"[]", "body"),
        (b'{"url": "https://a.example.com"}', "events"),
        (b'{"events": ["checkpoint.saved"]}', "url"),
        (b'{"url": "https://a.example.com", "events": []}', "events"),
        (b'{"url": "https://a.example.com", "events": ["checkpoint.saved", "nothing"]}', "events[1]"),
        (b'{"url": "https://a.example.com", "events": "checkpoint.saved"}', "events"),
        (b'{"url": 7, "events": ["checkpoint.saved"]}', "url"),
        (b'{"url": "https://a.example.com", "events": ["checkpoint.saved"], "secrets": "x"}', "secrets"),
        (b'{"url": "https://a.example.com", "events": ["checkpoint.saved"], "secret": ""}', "secret"),
        (b'{"url": "https://a.example.com", "events": ["checkpoint.saved"], "secret": "whsec_*"}', "secret"),
        (b'{"url": "https://a.example.com", "events": ["checkpoint.saved"], "secret": "whsec_"}', "secret"),
        (b'{"url": "https://a.example.com", "events": ["checkpoint.saved"], "secret": "a\\u0000"}', "secret"),
        (b'{"url": "https://a.example.com", "events": ["checkpoint.saved"], "description": "a\\u0000"}', "description"),
        (b'{"url": "https://a.example.com", "events": ["checkpoint.saved"], "description": "\xff"}', "body"),
    ],
)
def test_what_is_wrong_is_named(api, body, path):
    answer = api.post("/webhooks", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert [detail["path"] for detail in answer.json()["error"]["details"]] == [path]


def test_a_change_keeps_what_is_left_out(api, registered):
    changed = api.patch(f"/webhooks/{registered['webhook_id']}", json={"events": ["workflow.failed"] * 2})
    assert changed.status_code == 200
    assert (changed.json()["events"], changed.json()["url"]) == (["workflow.failed"], URL)
    assert api.patch(f"/webhooks/{registered['webhook_id']}", json={"description": None}).json()["description"] == ""


WRONG: list[dict[str, object]] = [
    {},
    {"url": "http://10.0.0.1"},
    {"status": "deleted"},
    {"secret": "x"},
    {"events": []},
]


@pytest.mark.parametrize("body", WRONG)
def test_a_change_that_is_none_or_wrong_is_refused(api, registered, body):
    assert api.patch(f"/webhooks/{registered['webhook_id']}", json=body).status_code == 400


def test_enabled_again_it_has_a_clean_record(api, registered):
    services.disable_endpoint(endpoint(registered))
    assert api.get(f"/webhooks/{registered['webhook_id']}").json()["disabled_reason"] == "by an operator"
    shown = api.patch(f"/webhooks/{registered['webhook_id']}", json={"status": "active"}).json()
    assert (shown["status"], shown["disabled_reason"], shown["failing_since"]) == ("active", None, None)


def test_deleted_it_is_gone_and_nothing_is_sent(api, account, hook, receiver):
    to = receiver(200)
    registered = hook(to.url)
    happened(account, saved())
    queue()
    assert api.delete(f"/webhooks/{registered['webhook_id']}").status_code == 204
    assert deliver() == 0
    for method, path, body in routes(registered["webhook_id"]):
        assert api.request(method, path, json=body).status_code == 404, path
    assert (api.get("/webhooks").json()["webhooks"], to.got) == ([], [])


def test_what_was_deleted_is_swept(api, account, hook):
    registered = hook(URL)
    happened(account, saved())
    queue()
    api.delete(f"/webhooks/{registered['webhook_id']}")
    assert endpoint(registered).secret == ""
    services.prune_deliveries(now=timezone.now() + timedelta(hours=2))
    assert not Endpoint.objects.filter(webhook_id=registered["webhook_id"]).exists()


def test_deliveries_are_kept_for_thirty_days(account, registered):
    happened(account, saved())
    queue()
    services.prune_deliveries(now=timezone.now() + timedelta(days=29))
    assert delivery(registered).event_type == "checkpoint.saved"
    services.prune_deliveries(now=timezone.now() + timedelta(days=31))
    assert not Delivery.objects.filter(endpoint__webhook_id=registered["webhook_id"]).exists()


def test_pages_neither_skip_nor_repeat(api, account, hook):
    made = [hook(URL)["webhook_id"] for _ in range(5)]
    found, cursor = list[str](), dict[str, str]()
    while True:
        page = api.get("/webhooks", params={"limit": 2, **cursor}).json()
        found += [each["webhook_id"] for each in page["webhooks"]]
        hook(URL)
        if not page["has_more"]:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert found == made[::-1]


def test_deliveries_show_their_attempts_and_pages(api, account, hook, receiver):
    registered = hook(receiver(500).url)
    happened(account, *[saved(step=step) for step in range(3)])
    queue()
    deliver()
    page = api.get(f"/webhooks/{registered['webhook_id']}/deliveries", params={"limit": 2}).json()
    first = page["deliveries"][0]
    assert (len(page["deliveries"]), page["has_more"], first["status"]) == (2, True, "pending")
    (attempt,) = first["attempts"]
    assert (attempt["status_code"], attempt["error"], first["event"]) == (500, None, "checkpoint.saved")
    assert attempt["duration_ms"] >= 0
    assert datetime.fromisoformat(first["next_attempt_at"]) > timezone.now()
    rest = api.get(f"/webhooks/{registered['webhook_id']}/deliveries", params={"cursor": page["next_cursor"]}).json()
    assert (len(rest["deliveries"]), rest["has_more"]) == (1, False)


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "cursor=x", "status=failed", "limit=1&limit=2"])
def test_a_wrong_query_is_refused(api, registered, query):
    assert api.get(f"/webhooks?{query}").status_code == 400
    assert api.get(f"/webhooks/{registered['webhook_id']}/deliveries?{query}").status_code == 400


def test_a_test_event_comes_whatever_the_webhook_hears_of(api, hook, receiver):
    to = receiver(200)
    registered = hook(to.url, "workflow.archived")
    answer = api.post(f"/webhooks/{registered['webhook_id']}/test")
    assert answer.status_code == 202
    deliver()
    assert (to.got[0].json["type"], to.got[0].json["event_id"]) == ("webhook.test", answer.json()["event_id"])


def test_a_disabled_webhook_is_neither_tested_nor_sent_again(api, account, registered):
    happened(account, saved())
    queue()
    path = f"/webhooks/{registered['webhook_id']}"
    api.patch(path, json={"status": "disabled"})
    assert api.post(f"{path}/test").status_code == 409
    assert api.post(f"{path}/deliveries/{delivery(registered).delivery_id}/resend").status_code == 409


def test_a_stranger_finds_nothing(api, stranger_api, account, registered):
    happened(account, saved())
    queue()
    theirs = routes(registered["webhook_id"], delivery(registered).delivery_id)
    for (method, path, body), (_, missing, _) in zip(theirs, routes(MISSING), strict=True):
        answers = [stranger_api.request(method, each, json=body) for each in (path, missing)]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].json()["error"]["message"] == answers[1].json()["error"]["message"]
    assert stranger_api.get("/webhooks").json()["webhooks"] == []
    assert api.get(f"/webhooks/{registered['webhook_id']}").json()["description"] == "first"


@pytest.mark.parametrize("odd", ["a%2Fb", "wh_%00", "%C3%A9", "wh_" + "0" * 3_000, "%ff", "dlv_" + "é" * 32])
def test_odd_ids_are_missing_ones(api, registered, odd):
    assert api.get(f"/webhooks/{odd}").status_code == 404
    assert api.post(f"/webhooks/{registered['webhook_id']}/deliveries/{odd}/resend").status_code == 404


def test_the_scope_is_needed(connect, account):
    services_of_accounts = import_module("accounts.services")
    key = services_of_accounts.issue_key(account, label="other", scopes=["checkpoints:write"])[1]
    for method, path, body in [("GET", "/webhooks", None), ("POST", "/webhooks", {}), *routes(MISSING)]:
        assert connect(key).request(method, path, json=body).status_code == 403


def test_an_account_has_a_hundred_webhooks(api, account, registered):
    body = {"url": URL, "events": ["checkpoint.saved"]}
    answers = [api.post("/webhooks", json=body).status_code for _ in range(100)]
    assert answers == [201] * 99 + [409]


@pytest.mark.parametrize("field", ["secret", "description", "url"])
def test_half_a_letter_is_refused_with_its_place(api, field):
    body = '{"events":["checkpoint.saved"],"FIELD":"a\\ud83d"}'.replace("FIELD", field)
    answer = api.post("/webhooks", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]["details"][0]["path"] == field
