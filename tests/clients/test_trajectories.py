"""Real runs through the published SDK: saved step by step, equal on resume and replay, killed and gone on with."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from accounts.models import Account
from snapstate_project.dev.home import BASE_DIR
from tests.checkpoints.racing import writes
from tests.clients import published, runs
from tests.clients.published import Capturing
from tests.hostile.reading import Resumed, read, workflow

SOON = 60
needs_runs = pytest.mark.skipif(not runs.paths(), reason=f"no trajectories in {runs.FOLDER}")


class Sent(msgspec.Struct):
    step: int
    state: msgspec.Raw
    label: str


@needs_runs
@pytest.mark.parametrize("path", runs.paths(), ids=lambda path: path.stem)
def test_a_run_is_equal_on_every_resume_and_on_replay(
    base_url: str, key: str, settle: Callable[[], None], path: Path
) -> None:
    with published.client(base_url, key) as sdk:
        for step, state, label in runs.messages(path):
            saved = sdk.save(path.stem, step, state, label=label, ttl_seconds=SOON)
            latest = sdk.resume(path.stem).latest_checkpoint
            assert (latest.step, latest.label, latest.etag, latest.state) == (step, label, saved.etag, state)
        settle()
        assert sdk.resume(path.stem).latest_checkpoint.state == state
        replayed = sdk.replay(path.stem, limit=1000)
        shown = [(checkpoint.step, checkpoint.state, checkpoint.label) for checkpoint in replayed.checkpoints]
        assert shown == [tuple(message) for message in runs.messages(path)]


@needs_runs
@pytest.mark.parametrize("path", runs.paths(), ids=lambda path: path.stem)
def test_the_state_is_byte_for_byte_what_the_sdk_sent(
    base_url: str, key: str, api: httpx.Client, settle: Callable[[], None], path: Path
) -> None:
    transport = Capturing()
    with published.client(base_url, key, transport) as sdk:
        for step, state, label in runs.messages(path):
            sdk.save(path.stem, step, state, label=label, ttl_seconds=SOON)
    settle()
    sent = [msgspec.json.decode(body, type=Sent) for body in transport.bodies]
    resumed = read(api, workflow(path.stem, "resume"), Resumed).latest_checkpoint
    assert bytes(resumed.state) == bytes(sent[-1].state) == json.dumps(state).encode()
    got = [api.get(f"/checkpoints/cp_{path.stem}_{one.step:03d}").content for one in sent[:: len(sent) // 5 or 1]]
    assert all(bytes(one.state) in body for one, body in zip(sent[:: len(sent) // 5 or 1], got, strict=True))


@needs_runs
@pytest.mark.parametrize("path", runs.paths()[:2], ids=lambda path: path.stem)
def test_an_agent_killed_in_the_middle_goes_on_from_the_next_step(
    base_url: str, key: str, account: Account, intake: Callable[[], None], api: httpx.Client, path: Path
) -> None:
    last = [message.step for message in runs.messages(path)][-1]
    with agent(base_url, key, path) as first:
        let_go_on(first, last // 2)
        first.kill()
    reached = api.get(workflow(path.stem, "resume")).json()["latest_checkpoint"]["step"]
    assert reached in (last // 2 - 1, last // 2)
    with agent(base_url, key, path) as second:
        assert let_go_on(second, last - reached) == list(range(reached + 1, last + 1))
    intake()
    assert writes(account.pk) == last + 1
    shown = api.get(workflow(path.stem, "replay"), params={"limit": 1000}).json()["checkpoints"]
    assert [checkpoint["state"] for checkpoint in shown] == [message.state for message in runs.messages(path)]


@contextmanager
def agent(base_url: str, key: str, path: Path) -> Iterator[Any]:
    """A process of its own; what it prints are the steps that it has saved."""
    command = [sys.executable, "-m", "tests.clients.agent", base_url, key, path.stem, str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=BASE_DIR, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def let_go_on(process: Any, steps: int) -> list[int]:
    """Which steps it saved; it is about the next one when this returns."""
    saved = []
    for _ in range(steps):
        saved.append(int(process.stdout.readline()))
        process.stdin.write("go on\n")
        process.stdin.flush()
    return saved
