"""`make up` lives and ends well: it brings back what dies, gives up with a reason, and leaves nothing behind."""

import os
import signal
import sys
from urllib.parse import urlsplit

import httpx
import pytest

from snapstate_project.dev.process import wait_until
from tests.dev.steps import family, gone

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties a child to its parent's life")


def save(up, step):
    return httpx.post(
        f"{up.dev_env['SNAPSTATE_API_URL']}/checkpoints",
        headers={"Authorization": f"Bearer {up.dev_env['SNAPSTATE_API_KEY']}"},
        json={"workflow_id": "kept", "step": step, "state": {"step": step}},
    )


def resume(up):
    return httpx.get(
        f"{up.dev_env['SNAPSTATE_API_URL']}/workflows/kept/resume",
        headers={"Authorization": f"Bearer {up.dev_env['SNAPSTATE_API_KEY']}"},
    )


def ready(up):
    try:
        return httpx.get(f"{up.dev_env['SNAPSTATE_API_URL']}/ready").is_success
    except httpx.TransportError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_no_process_behind(start, number):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("this signal is ignored here (nohup), and so by whatever is started")
    up = start()
    everyone = family(up.pid)
    assert len(everyone) > 8
    assert up.end(number) == 0
    assert gone(everyone, seconds=0)


@linux_only
def test_kill_9_leaves_no_process_behind(start):
    up = start()
    everyone = family(up.pid)
    up.kill()
    assert gone(everyone)


@linux_only
@pytest.mark.skipif(signal.getsignal(signal.SIGINT) is signal.SIG_IGN, reason="what is started here ignores it")
def test_an_interrupt_of_make_alone_is_noticed(start):
    up = start("make", "up")
    everyone = family(up.pid)
    up.send(signal.SIGINT)
    assert gone(everyone, seconds=60)


def test_a_second_run_finds_its_data_key_and_operator(start):
    first = start()
    save(first, step=7)
    before = first.dev_env
    first.end()
    second = start(home=first.home)
    assert resume(second).json()["latest_checkpoint"]["step"] == 7
    kept = ("SNAPSTATE_API_KEY", "ADMIN_SECRET", "OPERATOR_PASSWORD")
    assert [second.dev_env[name] for name in kept] == [before[name] for name in kept]


@pytest.mark.parametrize(("name", "word"), [("web", "gunicorn"), ("postgres", "bin/postgres"), ("valkey", "REDIS_URL")])
def test_what_dies_is_started_again(running, name, word):
    word = f":{urlsplit(running.dev_env[word]).port}" if word in running.dev_env else word
    os.kill(running.child(word), signal.SIGKILL)
    assert running.says(f"{name:<8} | died (killed by SIGKILL); starting it again")
    assert wait_until(lambda: ready(running), seconds=30)


def test_five_deaths_within_a_minute_end_everything_with_the_reason(start):
    up = start()
    everyone = family(up.pid)
    for times in range(1, 6):
        os.kill(up.child("snapstate_project beat"), signal.SIGKILL)
        assert times == 5 or up.says("beat     | died", times=times)
    assert up.popen.wait(40) == 1
    assert "beat died 5 times within a minute, the last time with killed by SIGKILL" in up.said
    assert gone(everyone)


def test_a_terminal_that_sourced_dev_env_starts_another_with_servers_of_its_own(running, start, tmp_home):
    sourced = {name: value for name, value in running.dev_env.items() if name != "SNAPSTATE_HOME"}
    other = start(home=tmp_home(), **sourced)
    assert "REDIS_URL, CELERY_BROKER_URL, DATABASE_URL stem from a dev.env: passed over" in other.said
    assert not {other.dev_env[name] for name in ("REDIS_URL", "DATABASE_URL")} & set(sourced.values())
    answer = httpx.get(
        f"{running.dev_env['SNAPSTATE_API_URL']}/usage",
        headers={"Authorization": f"Bearer {running.dev_env['SNAPSTATE_API_KEY']}"},
    )
    assert answer.status_code == 200
