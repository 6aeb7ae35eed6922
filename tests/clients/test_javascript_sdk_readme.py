"""The README of the JavaScript SDK does what it says: its samples compile in strict TypeScript, and run."""

import json
import re
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.clients import javascript
from tests.clients.javascript import BESIDE, SDK

TSC = str(SDK / "node_modules" / "typescript" / "bin" / "tsc")
STRICT = {
    "module": "Node16",
    "moduleResolution": "node16",
    "target": "ES2022",
    "types": ["node"],
    "strict": True,
    "noUncheckedIndexedAccess": True,
    "noEmit": True,
}


def blocks() -> list[str]:
    return re.findall(r"```ts\n(.*?)```", (SDK / "README.md").read_text(), re.DOTALL)


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """The first by itself, and all of them as one program, for the others go on from it."""
    modules = tmp_path / "node_modules"
    (modules / "@snapstate").mkdir(parents=True)
    (modules / "@snapstate" / "sdk").symlink_to(SDK)
    (modules / "@types").symlink_to(SDK / "node_modules" / "@types")
    (modules / "undici-types").symlink_to(SDK / "node_modules" / "undici-types")
    (tmp_path / "first.mts").write_text(blocks()[0])
    (tmp_path / "all.mts").write_text("\n".join(blocks()))
    return tmp_path


def test_its_samples_compile_in_strict_typescript(samples: Path) -> None:
    (samples / "tsconfig.json").write_text(json.dumps({"compilerOptions": STRICT, "files": ["first.mts", "all.mts"]}))
    done = subprocess.run([BESIDE, TSC, "-p", "."], cwd=samples, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_its_samples_run(samples: Path, base_url: str, key: str) -> None:
    said = javascript.run(str(samples / "all.mts"), base_url=base_url, key=key).splitlines()
    assert said[1:5] == ["winds tides [ 'topic' ]", "tides", "winds", "1 null"]
    assert '{"id": 9007199254740993, "price": 1.0}; metadataJson' in blocks()[2]
    assert '{"id": 9007199254740993, "price": 1.0}' in said


def test_its_first_sample_goes_on_where_it_was(samples: Path, base_url: str, key: str, api: httpx.Client) -> None:
    for _ in range(2):
        javascript.run(str(samples / "first.mts"), base_url=base_url, key=key)
    resumed = api.get("/workflows/almanac-1/resume").json()
    assert (resumed["status"], resumed["latest_checkpoint"]["step"]) == ("completed", 5)
    assert len(resumed["latest_checkpoint"]["state"]["notes"]) == 3
