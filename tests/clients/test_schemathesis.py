"""Other people's fuzzer on our own description of the API: every check, every operation, nothing found.

SNAPSTATE_FUZZ_SECONDS gives it more than the seconds it has in `make test`. Edges come to an end, in about half of them
where nobody else works and in more where somebody does; what is made up has none.
"""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connections

from accounts.models import Account

HOOKS = Path(__file__).parent / "generated" / "schemathesis_hooks.py"
SECONDS = int(os.environ.get("SNAPSTATE_FUZZ_SECONDS", "50"))
CONFIGURATION = """
seed = 1
hooks = '{hooks}'
reports.directory = '{folder}/reports'
cache.directory = '{folder}/cache'
warnings.fail-on = [{fail_on}]
[auth.openapi.apiKey]
bearer = '{key}'
[auth.openapi.operator]
bearer = '{operator}'
"""

type Run = Callable[..., str]


@pytest.fixture
def events_go_their_way(intake: Callable[[], None]) -> Iterator[None]:
    """What it saves is listed and counted while it looks, as it would be elsewhere."""
    stopped = threading.Event()

    def keep_on() -> None:
        while not stopped.wait(1):
            intake()
        connections.close_all()

    thread = threading.Thread(target=keep_on)
    thread.start()
    yield
    stopped.set()
    thread.join()


@pytest.fixture
def run(base_url: str, account: Account, key: str, tmp_path: Path, events_go_their_way: None) -> Run:
    """Runs it with all checks; what it said, without what depends on its moment."""
    configuration = tmp_path / "schemathesis.toml"
    names = {"hooks": HOOKS, "folder": tmp_path, "key": key, "operator": settings.ADMIN_SECRET}

    def fuzz(phases: str, *options: str) -> str:
        # Of a few made-up calls all may by chance come without a key; of every edge, not.
        fail_on = '"missing_auth"' if "coverage" in phases else ""
        configuration.write_text(CONFIGURATION.format(fail_on=fail_on, **names))
        command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(configuration), "run"]
        command += [f"{base_url}/openapi.json", "--phases", phases, "--continue-on-failure", "--no-shrink", *options]
        environment = {**os.environ, "SNAPSTATE_ACCOUNT": str(account.id), "NO_COLOR": "1"}
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        shown = re.sub(r"(.{400}).*", r"\1…", ran.stdout)
        assert ran.returncode == 0, shown[-8_000:] + ran.stderr[-2_000:]
        return ran.stdout

    return fuzz


def cases(said: str) -> int:
    found = re.search(r"([\d,]+) generated", said)
    assert found, said[-2_000:]
    return int(found[1].replace(",", ""))


@pytest.mark.slow
@pytest.mark.timeout(300 + SECONDS)
def test_the_edges_of_every_field_show_nothing(run: Run) -> None:
    said = run("examples,coverage", "--max-time", str(SECONDS * 3))
    print(cases(said), "cases")
    assert cases(said) > 100


@pytest.mark.slow
@pytest.mark.timeout(300 + SECONDS)
def test_made_up_calls_and_sequences_of_them_show_nothing(run: Run) -> None:
    examples = str(max(10, SECONDS // 5))
    said = run("fuzzing,stateful", "--max-time", str(SECONDS * 2 // 5), "--max-examples", examples)
    print(cases(said), "cases")
    assert cases(said) > 50


def test_it_would_find_something(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same run, of a server whose answers are not as described."""
    monkeypatch.setattr("django.conf.settings.VERSION", 7)
    with pytest.raises(AssertionError, match="Response violates schema"):
        run("coverage", "--include-operation-id", "getHealth")
