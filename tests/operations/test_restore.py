"""Back-up and restore by the runbook's own commands: into empty servers, and everything is there and goes on."""

import json
import shutil
from typing import Any

import httpx
import pytest

from tests import environment
from tests.checkpoints.steps import replay, resume, save_raw, steps_of
from tests.operations.systems import ARCHIVE_ALL, System, system

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ODD = '{{ "e":1E2, "o" : 1.0,  "big":9007199254740993, "l":[], "d":{{}}, "n":{step} }}'
WORKFLOWS = {"hot": 3, "long": 30, "cold": 5, "erased": 2}
SOON = {"X-Checkpoint-TTL": "60"}


def fill(client: httpx.Client) -> None:
    for name, steps in WORKFLOWS.items():
        headers = SOON if name == "cold" else {}
        for step in range(1, steps + 1):
            assert save_raw(client, name, step, ODD.format(step=step), **headers).status_code == 201


def shown(client: httpx.Client) -> dict[str, Any]:
    """Every history as clients see it, and the usage; resuming would be an event, and wake what is archived."""
    histories = {name: replay(client, name, limit=1000).json()["checkpoints"] for name in WORKFLOWS}
    return {**histories, "usage": client.get("/usage").json()["usage"]["checkpoint_writes"]["count"]}


class Restored:
    """What was there before, and the system that came after."""

    def __init__(self, before: dict[str, Any], system: System, key: str, strangers: str) -> None:
        self.before = before
        self.system = system
        self.key, self.strangers = key, strangers


@pytest.fixture(scope="module")
def restored():
    backup, first, second = (environment.open_folder() for _ in range(3))
    with system(first) as old:
        old.manage("migrate", "--verbosity=0")
        old.start()
        key, strangers = old.new_key(), old.new_key()
        with old.client(key) as client, old.client(strangers) as stranger:
            fill(client)
            save_raw(stranger, "hot", 1, '{"whose": "the stranger\'s"}')
            old.catch_up(sum(WORKFLOWS.values()) + 1)
            old.manage("shell", "--no-imports", "-c", ARCHIVE_ALL)
            before = shown(client)
            old.follow("back-up", backup)
            assert client.delete("/workflows/erased").status_code == 204
    shutil.rmtree(first)
    with system(second) as new:
        told = new.follow("restore", backup)
        assert "1 segments, all as they were written." in told
        assert "1 workflows erased again." in new.manage("erase_again", given="\n".join(old.lines))
        new.start()
        yield Restored(before, new, key, strangers)


@pytest.fixture
def client(restored):
    with restored.system.client(restored.key) as client:
        yield client


def test_every_history_is_there_as_it_was(restored, client):
    after = shown(client)
    assert [(name, len(after[name])) for name in ("hot", "long", "cold")] == [("hot", 3), ("long", 30), ("cold", 5)]
    assert {**after, "erased": []} == {**restored.before, "erased": []}


@pytest.mark.parametrize("name", ["hot", "long", "cold"])
def test_a_workflow_is_resumed_byte_for_byte_and_goes_on(restored, client, name):
    head = WORKFLOWS[name]
    answer = resume(client, name)
    assert (answer.json()["source"] == "archive") == (name == "cold")
    assert f'"state":{ODD.format(step=head)}' in answer.text
    etag = answer.json()["latest_checkpoint"]["etag"]
    assert save_raw(client, name, head + 1, "{}", **{"If-Match": etag}).status_code == 201
    assert steps_of(replay(client, name, limit=1000)) == list(range(1, head + 2))


def test_a_save_from_before_the_back_up_is_a_replay(restored, client):
    answer = save_raw(client, "long", 7, ODD.format(step=7))
    assert (answer.status_code, answer.headers["Idempotent-Replayed"]) == (200, "true")
    assert json.loads(answer.headers["ETag"]) == json.loads(restored.before["long"][6]["etag"])


def test_what_was_erased_after_the_back_up_is_erased_again(client):
    assert resume(client, "erased").status_code == 404
    assert save_raw(client, "erased", 1, "{}").status_code == 201


def test_accounts_still_cannot_see_one_another(restored):
    with restored.system.client(restored.strangers) as stranger:
        assert resume(stranger, "hot").json()["latest_checkpoint"]["state"] == {"whose": "the stranger's"}
        assert resume(stranger, "long").status_code == 404


def test_usage_goes_on_from_where_it_was(restored, client):
    assert save_raw(client, "new", 1, "{}").status_code == 201
    restored.system.catch_up(sum(WORKFLOWS.values()) + 2)
    assert client.get("/usage").json()["usage"]["checkpoint_writes"]["count"] > restored.before["usage"]
