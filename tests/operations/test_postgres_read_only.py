"""Postgres takes no writes, as a replica does and a primary that stepped down: who writes is told to try again."""

import os

import httpx
import pytest

from snapstate_project.dev.process import wait_until
from snapstate_project.dev.server import LOOPBACK, free_port
from tests.checkpoints.steps import replay, resume, save, steps_of
from tests.operations.running import WEB, Running, is_ready

pytestmark = pytest.mark.slow
READ_ONLY = "?options=-c%20default_transaction_read_only%3Don"


@pytest.fixture(scope="module")
def address():
    """Of a web process whose sessions may not write."""
    port = free_port()
    url = f"http://{LOOPBACK}:{port}"
    settings = {"DATABASE_URL": os.environ["DATABASE_URL"] + READ_ONLY, "PORT": str(port), "WEB_CONCURRENCY": "1"}
    with Running("web", WEB, **settings) as web:
        assert wait_until(lambda: is_ready(url), seconds=30)
        yield url
        web.leave()


def ask(address, method, path, token, body=None):
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.request(method, f"{address}{path}", headers=headers, json=body, timeout=30, trust_env=False)


def test_what_is_written_to_postgres_is_a_503(address, api, key):
    save(api, "wf", 1)
    hook = {"url": "https://example.com/hook", "events": ["checkpoint.saved"]}
    asked = [("POST", "/agents", {"agent_id": "a"}), ("POST", "/webhooks", hook), ("DELETE", "/workflows/wf", None)]
    answers = [ask(address, method, path, key, body) for method, path, body in asked]
    answers.append(ask(address, "POST", "/admin/accounts", os.environ["ADMIN_SECRET"], {"email": "a@example.com"}))
    assert [(answer.status_code, answer.headers["Retry-After"]) for answer in answers] == [(503, "1")] * 4
    assert {answer.json()["error"]["code"] for answer in answers} == {"SERVICE_UNAVAILABLE"}


def test_saves_and_all_reads_go_on(address, api, intake, key):
    save(api, "wf", 1)
    intake()
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, trust_env=False) as client:
        assert save(client, "wf", 2).status_code == 201
        assert resume(client, "wf").json()["latest_checkpoint"]["step"] == 2
        assert steps_of(replay(client, "wf")) == [1, 2]
        assert [client.get(path).status_code for path in ("/workflows", "/agents", "/usage", "/ready")] == [200] * 4
