"""The receivers of the webhooks page, each started as it stands there, take what we sign and nothing else, and once."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from snapstate_project.dev.process import wait_until
from tests.docs.samples import Sample, samples
from tests.docs.test_samples import COMMANDS, environment
from webhooks import signing

RECEIVERS = [each for each in samples() if each.meta.get("run") == "receiver"]
SECRET = signing.new_secret()
BODY = json.dumps(
    {"type": "checkpoint.saved", "event_id": "e1", "data": {"workflow_id": "é/1"}}, ensure_ascii=False
).encode()


class Running:
    def __init__(self, sample: Sample, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        command, name = COMMANDS[sample.language]
        script, self.printed = folder / name, folder / "printed"
        script.write_text(sample.code)
        env = environment(folder, PORT=str(self.port), WEBHOOK_SECRET=SECRET)
        with self.printed.open("w") as printed:
            self.process = subprocess.Popen(
                [*command, str(script)], cwd=folder, env=env, stdout=printed, start_new_session=True
            )
        wait_until(self.answers, seconds=60)

    def answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def post(self, body: bytes, headers: dict[str, str]) -> int:
        return httpx.post(
            f"http://127.0.0.1:{self.port}/hook", content=body, headers=headers, trust_env=False
        ).status_code


@pytest.fixture(params=RECEIVERS, ids=lambda sample: sample.language)
def receiver(request: pytest.FixtureRequest, folder: Path) -> Iterator[Running]:
    if request.param.language == "go" and not shutil.which("go"):
        pytest.skip("there is no Go toolchain here")
    running = Running(request.param, folder)
    yield running
    subprocess.run(["kill", "-TERM", "--", f"-{running.process.pid}"], check=True)
    running.process.wait(10)


def signed(body: bytes, *, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    return signing.headers("msg_1", int(time.time() if at is None else at), body, [secret])


def test_there_is_one_in_each_language():
    assert {each.language for each in RECEIVERS} == {"python", "javascript", "go"}


def test_what_we_sign_is_taken_once_and_nothing_else(receiver: Running):
    headers = signed(BODY)
    assert receiver.post(BODY, headers) == 204
    assert receiver.post(BODY, headers) == 204
    assert receiver.post(BODY.replace(b"saved", b"faked"), headers) == 400
    assert receiver.post(BODY, signed(BODY, secret=signing.new_secret())) == 400
    assert receiver.post(BODY, signed(BODY, at=time.time() - 3600)) == 400
    assert receiver.post(BODY, {}) == 400
    printed = receiver.printed.read_text().splitlines()
    assert printed[0] == "checkpoint.saved é/1"
    assert [line for line in printed if "refused" not in line] == printed[:1]
    assert len(printed) == 5


def test_both_secrets_sign_while_one_is_being_replaced(receiver: Running):
    headers = signing.headers("msg_2", int(time.time()), BODY, [signing.new_secret(), SECRET])
    assert receiver.post(BODY, headers) == 204


@pytest.mark.parametrize("data", [{}, {"meter": "resume_calls", "threshold": 80}])
def test_events_that_belong_to_no_workflow_are_taken_too(receiver: Running, data: dict[str, object]):
    body = json.dumps({"type": "webhook.test", "event_id": "e2", "data": data}).encode()
    assert receiver.post(body, signed(body)) == 204
    assert receiver.printed.read_text() == "webhook.test -\n"


def test_who_hangs_up_half_way_harms_nobody_else(receiver: Running):
    with socket.create_connection(("127.0.0.1", receiver.port)) as rude:
        rude.sendall(b"POST /hook HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n{")
        time.sleep(0.3)
    time.sleep(0.3)
    assert receiver.post(BODY, signed(BODY)) == 204
