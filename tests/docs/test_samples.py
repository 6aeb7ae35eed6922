"""Every sample on every page works as it stands there: run against the live server, all by one account."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from accounts import services
from snapstate_project.dev.home import BASE_DIR
from snapstate_project.events.models import Event
from tests.docs import samples as all_samples
from tests.docs.samples import PARSED, Sample, prints, samples
from tests.fixtures import PLENTY
from webhooks.models import new_webhook_id
from webhooks.subscribers import message_of

NODE = str(BASE_DIR / ".venv" / "bin" / "node")
COMMANDS = {
    "python": ([sys.executable], "sample.py"),
    "javascript": ([NODE], "sample.mjs"),
    "typescript": ([NODE], "sample.mts"),
    "bash": (["bash", "-euo", "pipefail"], "sample.sh"),
    "go": (["go", "run"], "sample.go"),
}


def stories():
    """The samples of a page in one language, in their order: they share a folder."""
    kept = [each for each in samples() if each.language in COMMANDS and each.meta.get("run", "") == ""]
    kept = [each for each in kept if {"run", "save"} & set(each.meta)]
    kept.sort(key=lambda each: (each.page, each.story, each.line))
    return [list(story) for _, story in groupby(kept, key=lambda each: (each.page, each.story))]


@pytest.fixture(scope="module")
def newcomer() -> str:
    """The secret of a key whose account sees the samples of one page after the other."""
    account = services.create_account(email="newcomer@example.com", name="newcomer")
    return services.issue_key(services.set_rate_limit(account, PLENTY), label="first")[1]


def test_every_sample_says_how_it_is_tested():
    assert [each.fault for each in samples() if each.fault] == []


@pytest.mark.parametrize("sample", [each for each in samples() if each.language in PARSED], ids=lambda each: each.place)
def test_json_is_json(sample: Sample):
    json.loads(sample.code)


def environment(folder: Path, **more: str) -> dict[str, str]:
    path = f"{BASE_DIR / '.venv' / 'bin'}:{os.environ['PATH']}"
    return {**os.environ, **more, "PATH": path, "PYTHONPATH": str(folder)}


@pytest.mark.usefixtures("intake_at_work")
@pytest.mark.parametrize("story", stories(), ids=lambda story: f"{story[0].page}-{story[0].story}")
def test_samples_work_as_they_stand(story: list[Sample], folder: Path, base_url: str, newcomer: str):
    if story[0].language == "go" and not shutil.which("go"):
        pytest.skip("there is no Go toolchain here")
    for sample in story:
        if "save" in sample.meta:
            (folder / sample.meta["save"]).write_text(sample.code)
        if "run" in sample.meta:
            tell(sample, run(sample, folder, {"SNAPSTATE_API_URL": base_url, "SNAPSTATE_API_KEY": newcomer}))


def run(sample: Sample, folder: Path, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    command, name = COMMANDS[sample.language]
    script = folder / sample.meta.get("save", name)
    script.write_text(sample.code)
    return subprocess.run(
        [*command, str(script)],
        cwd=folder,
        env=environment(folder, **env),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def tell(sample: Sample, done: "subprocess.CompletedProcess[str]") -> None:
    said = f"{sample.place} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert done.returncode == int(sample.meta.get("exit", "0")), said
    if sample.language == "bash":  # curl is content with any answer
        assert '"error":{"code"' not in done.stdout or "exit" in sample.meta, said
    assert prints(sample, done.stdout), f"{said}\nbut the page says\n{sample.output}"


def test_the_error_on_the_reference_page_is_what_the_api_answers(api: httpx.Client):
    (shown,) = [json.loads(each.code) for each in samples() if each.page == "api-reference" and "error" in each.code]
    answer = api.post("/checkpoints", json={"workflow_id": "wf", "step": "7", "state": {}})
    assert answer.json() == {"error": {**shown["error"], "request_id": answer.headers["X-Request-Id"]}}


def test_the_body_on_the_webhooks_page_is_as_what_is_sent(api: httpx.Client, intake: Callable[[], None]):
    (shown,) = [json.loads(each.code) for each in samples() if (each.page, each.language) == ("webhooks", "json")]
    api.post("/checkpoints", json={"workflow_id": "wf", "step": 1, "state": {}})
    intake()
    event = Event.objects.filter(type="checkpoint.saved").latest("id")
    before, after = message_of(event, event.body)[-2:]
    sent = json.loads(f"{before}{new_webhook_id()}{after}")
    for body in (shown, sent):
        assert body["data"]["etag"].split("-")[1] == str(body["data"]["sequence"])
    assert (set(shown), set(shown["data"])) == (set(sent), set(sent["data"]))
    assert [len(shown[name]) for name in ("event_id", "webhook_id")] == [
        len(sent[name]) for name in ("event_id", "webhook_id")
    ]


def test_the_calls_on_the_landing_page_work(anonymous: httpx.Client, folder: Path, base_url: str, key: str):
    shown = re.findall(r"<pre[^>]*>(.*?)</pre>", anonymous.get("/").text, re.DOTALL)
    texts = [html.unescape(re.sub(r"<[^>]+>", "", each)) for each in shown]
    script = "\n".join(text.split("\n\n")[0] for text in texts).replace(settings.APP_URL, base_url)
    sample = Sample("landing", 1, "bash", {"run": ""}, script)
    sample.output = '{"checkpoint_id…{"workflow_id":"search-7"…"step":3,…{"found": 12, "next": "write"}…'
    tell(sample, run(sample, folder, {"SNAPSTATE_API_KEY": key}))


@pytest.mark.parametrize(
    ("fence", "fault"),
    [
        ("```python\npass\n```\n", "neither run"),
        ("```ruby run\nputs 1\n```\n", "ruby"),
        ("```bash norun\nmake up\n```\n", "needs its reason"),
        ("```python run\nprint(%{limits.rate_limit})\n```\n", "filled in"),
    ],
)
def test_a_sample_that_is_marked_wrongly_is_noticed(tmp_path: Path, fence: str, fault: str):
    (tmp_path / "page.mdx").write_text(fence)
    (sample,) = all_samples.samples_of(tmp_path / "page.mdx")
    assert fault in sample.fault


def test_a_sample_that_prints_something_else_is_noticed(tmp_path: Path):
    (tmp_path / "page.mdx").write_text("```python run\nprint(1)\n```\n\n```output\nstep … of 3\n```\n")
    first, _ = all_samples.samples_of(tmp_path / "page.mdx")
    assert prints(first, "step 1 of 3\n")
    assert not prints(first, "step 1 of 4\n")
