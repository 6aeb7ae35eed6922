"""Events in the queue: whatever a client calls its things, and whichever release wrote them."""

import os
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import redis as redis_py

from accounts.models import Account
from checkpoints.ids import workflow_key
from snapstate_project.events import catalogue
from snapstate_project.events.models import Event
from snapstate_project.events.queue import stream

NAMES = ["a b", "e", "t=1,u:2", "研究-🤖", "\u2028\u00a0x", "%1F", "x" * 255]


def told(account: Account, event_type: str) -> Any:
    """What the one event of a type says."""
    event = Event.objects.get(account_id=account.pk, type=event_type)
    return catalogue.decode(event.type, event.data)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_workflow_is_called_is_what_its_events_say(
    api: httpx.Client, intake: Callable[[], None], account: Account, name: str
) -> None:
    named = {"workflow_id": name, "agent_id": "a:b.c_d-e"}
    assert api.post("/checkpoints", json={**named, "step": 1, "state": {}}).status_code == 201
    path = f"/workflows/{quote(name, safe='')}"
    assert api.get(f"{path}/resume", params={"agent_id": "o:ther"}).status_code == 200
    assert api.get(f"{path}/replay").status_code == 200
    intake()
    saved, resumed = told(account, "checkpoint.saved"), told(account, "workflow.resumed")
    assert (saved.workflow_id, saved.agent_id) == (name, "a:b.c_d-e")
    assert (resumed.workflow_id, resumed.agent_id, resumed.step) == (name, "o:ther", 1)
    assert told(account, "workflow.replayed").workflow_id == name


def test_an_entry_of_a_process_that_is_not_updated_yet_is_taken(
    api: httpx.Client, intake: Callable[[], None], account: Account, redis: redis_py.Redis
) -> None:
    """Each name a field, the uid in bytes: while a release is rolled out, the queue holds both kinds."""
    api.post("/checkpoints", json={"workflow_id": "wf", "step": 1, "state": {}})
    key, uid = workflow_key(account.pk, "wf"), os.urandom(16)
    fields = {"t": "replay", "u": uid, "a": account.pk.hex, "d": key.digest.hex(), "w": "wf", "g": 1, "q": 0, "n": 3}
    redis.xadd(stream(key.shard), fields)  # type: ignore[arg-type]
    intake()
    assert told(account, "workflow.replayed").count == 3
    assert bytes(Event.objects.get(account_id=account.pk, type="workflow.replayed").uid) == uid
