"""The proxy that treats HTTP badly does what its script says, and the same again with the same seed."""

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

import httpx
import pytest

from snapstate_project.settings import BASE_DIR
from tests.clients.faults import Fault, FaultyProxy, faulty

Connect = Callable[[str], httpx.Client]


def save_through(proxy: FaultyProxy, key: str, step: int) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=proxy.url, headers=headers, timeout=10, trust_env=False) as client:
        return client.post("/checkpoints", json={"workflow_id": "wf", "step": step, "state": {"at": step}})


def steps_of(api: httpx.Client) -> list[int]:
    return [each["step"] for each in api.get("/workflows/wf/replay").json()["checkpoints"]]


@pytest.mark.parametrize(
    ("fault", "is_stored"),
    [(Fault.DROPS_UNSENT, False), (Fault.DROPS_AFTER_COMMIT, True), (Fault.HALF, True)],
)
def test_the_connection_is_lost_before_or_after_the_server_did_it(
    base_url: str, api: httpx.Client, key: str, fault: Fault, is_stored: bool
) -> None:
    with faulty(base_url, rate=1, faults=[fault], most=1) as proxy:
        with pytest.raises(httpx.TransportError):
            save_through(proxy, key, 1)
        assert steps_of(api) == ([1] if is_stored else [])
        assert save_through(proxy, key, 1).status_code == (200 if is_stored else 201)
    assert proxy.met == {fault: 1}


def test_a_server_that_is_unavailable_says_when_to_come_again(base_url: str, api: httpx.Client, key: str) -> None:
    with faulty(base_url, rate=1, faults=[Fault.UNAVAILABLE], most=3) as proxy:
        answers = [save_through(proxy, key, 1) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [503, 503, 503, 201]
    assert all("Retry-After" in answer.headers for answer in answers[:3])
    assert steps_of(api) == [1]


def test_a_slow_answer_is_whole(base_url: str, api: httpx.Client, key: str) -> None:
    with faulty(base_url, rate=1, faults=[Fault.SLOW], slow_seconds=0.3) as proxy:
        answer = save_through(proxy, key, 1)
    assert answer.status_code == 201
    assert answer.json()["checkpoint_id"] == "cp_wf_001"
    assert answer.elapsed.total_seconds() >= 0.2


def test_nobody_can_connect_for_a_moment(base_url: str, api: httpx.Client, key: str) -> None:
    with faulty(base_url, rate=1, faults=[Fault.REFUSES], most=1, refusing_seconds=1.5) as proxy:
        assert save_through(proxy, key, 1).status_code == 201
        with pytest.raises(httpx.ConnectError):
            save_through(proxy, key, 2)
        while True:
            with suppress(httpx.ConnectError):
                assert save_through(proxy, key, 3).status_code == 201
                break


def test_the_same_seed_gives_the_same_faults(base_url: str, api: httpx.Client, key: str) -> None:
    def run(seed: int) -> list[int | str]:
        said: list[int | str] = []
        with faulty(base_url, seed=seed, rate=0.5, faults=[Fault.UNAVAILABLE, Fault.DROPS_UNSENT]) as proxy:
            for step in range(20):
                try:
                    said.append(save_through(proxy, key, step).status_code // 100)
                except httpx.TransportError:
                    said.append("lost")
        return [5 if each == 5 else "lost" if each == "lost" else 2 for each in said]

    assert run(7) == run(7) != run(8)


def test_it_runs_as_a_program_for_clients_in_other_languages(base_url: str, key: str) -> None:
    command = [sys.executable, "-m", "tests.clients.faults", base_url, "3"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=BASE_DIR) as program:
        assert program.stdout is not None
        url = program.stdout.readline().strip()
        for _ in range(20):
            with suppress(httpx.TransportError):
                httpx.get(f"{url}/health", trust_env=False)
        said, _ = program.communicate()
    assert sum(json.loads(said).values()) == 2  # no more than that for one request
    assert program.returncode == 0
