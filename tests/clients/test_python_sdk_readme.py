"""The README of our Python SDK does what it says: its Python runs as it stands, its commands too, its names exist."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import snapstate_sdk

from snapstate_project.dev.home import BASE_DIR
from tests.clients.python_sdk import methods

README = BASE_DIR / "sdk-python" / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(), re.DOTALL)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch, base_url: str, key: str) -> None:
    monkeypatch.setenv("SNAPSTATE_API_URL", base_url)
    monkeypatch.setenv("SNAPSTATE_API_KEY", key)


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_its_python_runs(number: int) -> None:
    command = [sys.executable, "-W", "error", "-c", blocks("python")[number]]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    promised = re.findall(r"print\(.*\)  # (\d .*)", blocks("python")[number])
    assert all(line in ran.stdout for line in promised)


def test_its_commands_run(tmp_path: Path) -> None:
    bin_folder = Path(sys.executable).parent
    (script,) = [block for block in blocks("sh") if "snapstate save" in block]
    command = ["sh", "-ec", f'PATH="{bin_folder}:$PATH"\n{script}']
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    assert '\n{"topic": "tides", "hours": 12.0}\n' in ran.stdout
    assert len((tmp_path / "history.jsonl").read_text().splitlines()) == 2
    assert '"added":["hours"]' in ran.stdout


def test_every_method_and_exception_is_named() -> None:
    text = README.read_text()
    words: set[Any] = set(re.findall(r"\w+", text))
    assert methods() - words == {"close"}
    errors = {name for name in snapstate_sdk.__all__ if name.endswith("Error")}
    assert errors - words == {"CheckpointError", "UnsendableTypeError"}  # the old name, and a finer one
