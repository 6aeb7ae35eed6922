"""A thousand saves of our Python SDK over a bad network: each is there once, counted once, and no error was shown."""

import asyncio
import json
from collections.abc import Callable, Iterator

import httpx
import pytest
from snapstate_sdk import SnapStateClient

from tests.clients.faults import Fault, FaultyProxy, faulty

STEPS, WORKFLOWS = 100, 10
RATE = 0.15


def state_of(workflow: int, step: int) -> str:
    return json.dumps({"at": [workflow, step], "notes": "x" * (step * 10)})


def save_all(url: str, key: str) -> list[str]:
    """Ten agents, one after the other; the checkpoint ids that they were told."""
    with SnapStateClient(key, url) as client:
        return [
            client.save(f"wf-{workflow}", step, state_json=state_of(workflow, step)).checkpoint_id
            for workflow in range(WORKFLOWS)
            for step in range(STEPS)
        ]


async def async_save_all(url: str, key: str) -> list[str]:
    """Ten agents at once."""
    async with SnapStateClient(key, url) as client:

        async def agent(workflow: int) -> list[str]:
            saves = range(STEPS)
            name = f"wf-{workflow}"
            return [(await client.async_save(name, n, state_json=state_of(workflow, n))).checkpoint_id for n in saves]

        return [name for names in await asyncio.gather(*map(agent, range(WORKFLOWS))) for name in names]


@pytest.fixture
def proxy(base_url: str) -> Iterator[FaultyProxy]:
    with faulty(base_url, seed=2026, rate=RATE) as running:
        yield running


def kept(api: httpx.Client, workflow: int) -> list[tuple[int, dict[str, object]]]:
    page = api.get(f"/workflows/wf-{workflow}/replay?limit=1000").json()
    return [(each["step"], each["state"]) for each in page["checkpoints"]]


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    "how", [save_all, lambda url, key: asyncio.run(async_save_all(url, key))], ids=["sync", "async"]
)
def test_every_save_is_there_once_and_no_error_surfaced(
    proxy: FaultyProxy, api: httpx.Client, key: str, intake: Callable[[], None], how: Callable[[str, str], list[str]]
) -> None:
    told = how(proxy.url, key)
    assert len(set(told)) == len(told) == STEPS * WORKFLOWS
    assert all(proxy.met[fault] > 10 for fault in Fault), proxy.met
    intake()
    for workflow in range(WORKFLOWS):
        assert kept(api, workflow) == [(step, json.loads(state_of(workflow, step))) for step in range(STEPS)]
    intake()
    usage = api.get("/usage").json()["usage"]
    assert usage["checkpoint_writes"]["count"] == STEPS * WORKFLOWS
    assert api.get("/analytics/overview").json()["total_checkpoints"] == STEPS * WORKFLOWS
