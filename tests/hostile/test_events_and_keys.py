"""Hostile inputs, events, webhooks, billing, keys: each thing counted once, nothing reached that must not be.

What Stripe is told twice, in parallel or in doubt is tested where it is told: tests/billing.
"""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, connection

from accounts import keys, services
from accounts.models import Account, ApiKey
from snapstate_project.events import relay
from snapstate_project.events.catalogue import CheckpointSaved, encode
from tests.checkpoints.racing import writes
from tests.events.steps import at_once
from tests.hostile.conftest import caller
from tests.hostile.reading import error_of, place_of, save, saved, workflow
from tests.live_server import LiveServer
from tests.webhooks.receiver import Answering, Receiver
from webhooks import delivering

BEHIND = 20_000
HIDDEN = [
    "http://127.0.0.1", "http://[::1]", "http://169.254.169.254", "http://[::ffff:10.0.0.1]", "http://2130706433",
    "http://0177.0.0.1", "https://127.0.0.1", "https://[::1]/", "https://10.0.0.1/", "https://192.168.0.1:8443/x",
    "https://100.64.0.1/", "https://user:pw@example.com", "file:///etc/passwd", "ftp://example.com", "https://",
    "https://localhost", "//example.com", "example.com", "javascript:alert(1)", "https://exa mple.com", "",
]  # fmt: skip


# --- Webhooks ---


@pytest.mark.parametrize("url", HIDDEN)
def test_an_endpoint_that_is_not_public_is_refused(api: httpx.Client, url: str) -> None:
    assert place_of(api.post("/webhooks", json={"url": url, "events": ["checkpoint.saved"]})) == "url"


@pytest.mark.parametrize("events", [[], ["*"], ["checkpoint.saved", "nothing"], "checkpoint.saved", [1], None, {}])
def test_what_is_no_event_is_refused(api: httpx.Client, events: object) -> None:
    answer = api.post("/webhooks", json={"url": "https://example.com", "events": events})
    assert place_of(answer).startswith("events")


def test_a_receiver_that_fails_is_tried_again_under_one_id_and_one_that_redirects_is_not_followed(
    api: httpx.Client, wf: str, intake: Callable[[], None], loopback: None
) -> None:
    to = [Receiver(500, 500, 200), Receiver(Answering(302, {"Location": "http://127.0.0.1:1/"}))]
    hooks = [api.post("/webhooks", json={"url": each.url, "events": ["checkpoint.saved"]}).json() for each in to]
    saved(save(api, wf + "/é", 1, '{"é": 1.0, "/": "/"}'))
    intake()
    for later in (timedelta(), timedelta(seconds=6), timedelta(minutes=7)):
        delivering.deliver_due(now=datetime.now(UTC) + later)
    for each, hook in zip(to, hooks, strict=True):
        each.stop()
        assert api.delete(f"/webhooks/{hook['webhook_id']}").status_code == 204
    assert [len(each.got) for each in to] == [3, 3]
    assert len({got.headers["webhook-id"] for got in to[0].got}) == 1
    assert {got.json["data"]["workflow_id"] for got in to[0].got} == {wf + "/é"}


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deliveries may go to this machine."""
    monkeypatch.setattr(settings, "WEBHOOK_PRIVATE_NETWORKS", ["127.0.0.0/8"])


# --- Exactly once ---


def test_a_relay_that_is_far_behind_counts_each_save_once_whoever_is_killed(
    account: Account, sql: "psycopg.Connection[Any]", intake: Callable[[], None]
) -> None:
    intake()
    before = writes(account.pk)
    body = encode(CheckpointSaved(digest="0" * 32, generation=1, sequence=1, step=1, size_bytes=1))
    sql.execute(
        "INSERT INTO events_event (uid, type, account_id, at, erased, data)"
        " SELECT decode(md5(n::text || %s), 'hex'), 'checkpoint.saved', %s, now(), false, %s"
        " FROM generate_series(1, %s) AS n",
        [uuid.uuid4().hex, account.pk, body, BEHIND],
    )
    with killing(sql):
        at_once(*[drain_whatever_happens] * 3)
    drain_whatever_happens()
    assert writes(account.pk) - before == BEHIND


def drain_whatever_happens() -> None:
    while True:
        try:
            while relay.relay_once("billing", limit=500):
                pass
            return
        except OperationalError:
            connection.close()


@contextmanager
def killing(sql: "psycopg.Connection[Any]") -> Iterator[None]:
    """Whoever is in the middle of a batch loses the connection, again and again."""
    done = threading.Event()

    def kill() -> None:
        while not done.wait(0.05):
            sql.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()"
            )

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        done.set()
        killer.join()


# --- Keys ---


@pytest.fixture(scope="module")
def second_url() -> Iterator[str]:
    """Another server, which has its own memory of keys."""
    server = LiveServer()
    yield server.start()
    server.stop()


def by_the_admin_api(key: ApiKey, operator_api: httpx.Client) -> None:
    saved(operator_api.delete(f"/admin/accounts/{key.account_id}/keys/{key.pk}"), 204)


def by_suspending(key: ApiKey, operator_api: httpx.Client) -> None:
    saved(operator_api.patch(f"/admin/accounts/{key.account_id}", json={"status": "suspended"}), 200)


def by_taking_scopes(key: ApiKey, operator_api: httpx.Client) -> None:
    services.change_scopes(key, ["agents:manage"])


@pytest.mark.parametrize(("change", "status"), [(by_the_admin_api, 401), (by_suspending, 403), (by_taking_scopes, 403)])
def test_what_is_taken_from_a_key_is_gone_on_every_server_within_a_second(
    base_url: str, second_url: str, operator_api: httpx.Client, make_account: Any, wf: str, change: Any, status: int
) -> None:
    key, secret = services.issue_key(make_account())
    with caller(base_url, secret) as first, caller(second_url, secret) as second:
        assert {save(api, wf, step).status_code for step in range(20) for api in (first, second)} == {200, 201}
        change(key, operator_api)
        changed = time.monotonic()
        while {api.get(workflow(wf)).status_code for api in (first, second)} != {status}:
            assert time.monotonic() - changed < 1
        assert {save(api, wf, 99).status_code for api in (first, second)} == {status}


def test_a_key_expires_to_the_second(base_url: str, make_account: Any) -> None:
    expires_at = datetime.now(UTC) + timedelta(seconds=1)
    with caller(base_url, services.issue_key(make_account(), expires_at=expires_at)[1]) as api:
        assert api.get("/usage").status_code == 200
        while api.get("/usage").status_code == 200:
            assert datetime.now(UTC) < expires_at + timedelta(seconds=1)
    assert datetime.now(UTC) > expires_at


READ_ONLY = ["POST /checkpoints", "PATCH /workflows/wf", "DELETE /workflows/wf"]


@pytest.mark.parametrize("route", READ_ONLY)
def test_who_may_only_read_changes_nothing(base_url: str, account: Account, api: httpx.Client, route: str) -> None:
    save(api, "wf", 1)
    method, path = route.split()
    with caller(base_url, services.issue_key(account, scopes=["checkpoints:read"])[1]) as reader:
        error_of(reader.request(method, path, json={} if method != "DELETE" else None), 403, "FORBIDDEN")
        assert reader.get("/workflows/wf/resume").status_code == 200
    services.revoke_key(ApiKey.objects.filter(account=account, scopes=["checkpoints:read"]).latest("created_at"))


@pytest.mark.parametrize(
    "route", ["POST /agents", "GET /agents", "DELETE /agents/a", "POST /webhooks", "GET /webhooks"]
)
def test_who_may_only_read_registers_nothing(base_url: str, make_account: Any, route: str) -> None:
    method, path = route.split()
    with caller(base_url, services.issue_key(make_account(), scopes=["checkpoints:read"])[1]) as reader:
        error_of(reader.request(method, path, json={} if method == "POST" else None), 403, "FORBIDDEN")


SCOPED = ["POST /checkpoints", "GET /workflows", "HEAD /workflows", "GET /workflows/wf/resume",
          "GET /workflows/wf/replay", "GET /workflows/wf/diff", "GET /workflows/wf", "PATCH /workflows/wf",
          "DELETE /workflows/wf", "GET /checkpoints/cp_wf_001"]  # fmt: skip


def test_a_key_without_scopes_may_nothing_but_see_its_usage(base_url: str, make_account: Any) -> None:
    with caller(base_url, services.issue_key(make_account(), scopes=[])[1]) as api:
        for route in SCOPED:
            assert api.request(*route.split()).status_code == 403, route
        assert api.get("/usage").status_code == 200


@pytest.mark.parametrize(
    "scopes", ["admin", ["admin"], "checkpoints:read", ["checkpoints:read", 1], [None], {}, [[]], 1]
)
def test_what_is_no_scope_is_refused(operator_api: httpx.Client, account: Account, scopes: object) -> None:
    answer = operator_api.post(f"/admin/accounts/{account.pk}/keys", json={"scopes": scopes})
    assert place_of(answer).startswith("scopes")


NO_KEYS = ["", "Bearer", "Basic {key}", "{key}", "Bearer {upper}", "Bearer {key} x", "Bearer {key}{key}",
           "Bearer snp_" + "0" * 32, "Bearer é", "Bearer " + "a" * 20_000]  # fmt: skip


@pytest.mark.parametrize("token", NO_KEYS, ids=lambda text: text[:20])
def test_what_is_no_key_is_401_everywhere(anonymous: httpx.Client, key: str, token: str) -> None:
    named = {b"Authorization": token.format(key=key, upper=key.upper()).encode()} if token else {}
    for path in ("/usage", "/workflows/wf/resume", "/admin/accounts"):
        answer = anonymous.get(path, headers=named)
        error_of(answer, 401, "UNAUTHORIZED")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_key_minted_but_never_issued_is_unknown_and_no_secret_is_echoed(anonymous: httpx.Client) -> None:
    secret = keys.mint()
    answer = anonymous.get("/usage", headers={"Authorization": f"Bearer {secret}"})
    error_of(answer, 401, "UNAUTHORIZED")
    assert secret not in answer.text


def test_of_eighty_agents_registered_at_once_beside_forty_nine_one_is_added(base_url: str, make_account: Any) -> None:
    with caller(base_url, services.issue_key(make_account())[1]) as api, ThreadPoolExecutor(40) as pool:
        register = lambda number: api.post("/agents", json={"agent_id": f"agent-{number}", "name": "A"})  # noqa: E731
        assert {answer.status_code for answer in map(register, range(49))} == {201}
        raced = list(pool.map(register, range(100, 180)))
        assert sorted(answer.status_code for answer in raced) == [201] + [400] * 79
        refused = next(answer for answer in raced if answer.status_code == 400)
        assert error_of(refused, 400, "MAX_AGENTS_REACHED")
        assert len(api.get("/agents?limit=200").json()["agents"]) == 50
        assert register(7).status_code == 201  # it is there already
