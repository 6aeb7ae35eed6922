"""`make up` on a fresh home: what it prints works as printed, and what it writes is what it says."""

import json
import re
import shutil
import stat
import subprocess

import httpx
import pytest

from tests.dev.steps import Up

needs_curl = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")


def printed_commands(up):
    """Each curl of the screen, its continued lines joined as a shell does."""
    text = up.said.replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip().startswith("curl")]


@needs_curl
def test_the_printed_curl_saves_and_resumes_as_printed(running):
    outputs = [subprocess.check_output(command, shell=True, text=True) for command in printed_commands(running)]
    saved, resumed = map(json.loads, outputs)
    assert saved["checkpoint_id"] == resumed["latest_checkpoint"]["checkpoint_id"]


def test_dev_env_is_for_its_owner_alone(running):
    assert stat.S_IMODE((running.home / "dev.env").stat().st_mode) == 0o600


def test_dev_env_has_the_names_that_clients_read(running):
    assert list(running.dev_env) == [
        "SNAPSTATE_API_URL",
        "SNAPSTATE_API_KEY",
        "ADMIN_SECRET",
        "OPERATOR_EMAIL",
        "OPERATOR_PASSWORD",
        "REDIS_URL",
        "CELERY_BROKER_URL",
        "DATABASE_URL",
        "SNAPSTATE_EMBEDDED",
        "SNAPSTATE_HOME",
    ]


def test_a_shell_can_source_dev_env(running):
    command = f". {running.home}/dev.env && printf %s $SNAPSTATE_API_KEY"
    assert subprocess.check_output(["sh", "-c", command], text=True) == running.dev_env["SNAPSTATE_API_KEY"]


def test_the_key_may_call_ten_thousand_times_a_minute(running):
    answer = httpx.get(
        f"{running.dev_env['SNAPSTATE_API_URL']}/usage",
        headers={"Authorization": f"Bearer {running.dev_env['SNAPSTATE_API_KEY']}"},
    )
    assert answer.headers["RateLimit-Limit"] == "10000"


def test_the_operator_signs_in_with_what_the_screen_says(running):
    with httpx.Client(base_url=str(running.dev_env["SNAPSTATE_API_URL"])) as browser:
        page = browser.get("/admin/login/")
        [token] = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        form = {
            "username": running.dev_env["OPERATOR_EMAIL"],
            "password": running.dev_env["OPERATOR_PASSWORD"],
            "csrfmiddlewaretoken": token,
        }
        answer = browser.post("/admin/login/?next=/admin/", data=form)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/")


def test_a_second_one_on_the_same_home_is_refused_in_a_sentence(running):
    second = Up(running.home)
    assert second.fail() == 1
    assert f"running already on {running.home} (process {running.pid})" in second.said
    assert "Traceback" not in second.said


def test_a_second_one_on_the_same_port_is_refused_in_a_sentence(running, tmp_home):
    second = Up(tmp_home(), PORT=running.env["PORT"])
    assert second.fail() == 1
    assert f"Port {running.env['PORT']} cannot be used" in second.said
    assert "Traceback" not in second.said
