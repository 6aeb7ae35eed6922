"""The wheel of our Python SDK: built without a network, all in it that belongs, and good for Python 3.11."""

import ast
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email.parser import BytesParser
from pathlib import Path

import pytest

from snapstate_project.dev.home import BASE_DIR

HOME = BASE_DIR / "sdk-python"
INFO = "snapstate_sdk-2.0.0.dist-info"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    into = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(into)]
    subprocess.run(command, cwd=HOME, check=True, capture_output=True, timeout=120)
    (path,) = into.glob("*.whl")
    with zipfile.ZipFile(path) as opened:
        yield opened


def test_it_holds_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    sources = {str(path.relative_to(HOME)) for path in (HOME / "snapstate_sdk").rglob("*.py")}
    info = {f"{INFO}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    assert set(wheel.namelist()) == sources | {"snapstate_sdk/py.typed"} | info
    assert b"snapstate = snapstate_sdk.__main__:main" in wheel.read(f"{INFO}/entry_points.txt")
    assert (BASE_DIR / "LICENSE").read_bytes() == wheel.read(f"{INFO}/licenses/LICENSE")


def test_it_says_what_it_needs(wheel: zipfile.ZipFile) -> None:
    metadata = BytesParser().parsebytes(wheel.read(f"{INFO}/METADATA"))
    assert (metadata["Name"], metadata["Requires-Python"]) == ("snapstate-sdk", ">=3.11")
    needs = metadata.get_all("Requires-Dist") or []
    assert [each for each in needs if "extra ==" not in each] == ["httpx2>=2"]
    assert set(metadata.get_all("Provides-Extra") or []) == {"cli", "langgraph", "openai-agents", "dev"}
    assert str(metadata.get_payload()).startswith("# snapstate-sdk")


def test_it_is_written_for_python_3_11(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    for name in wheel.namelist():
        if name.endswith(".py"):
            ast.parse(wheel.read(name), name, feature_version=(3, 11))
    wheel.extractall(tmp_path)
    if subprocess.run(["sh", "-c", "python3.11 -c ''"], capture_output=True, check=False).returncode == 0:
        command = ["python3.11", "-W", "error", "-m", "compileall", "-q", str(tmp_path)]
        subprocess.run(command, check=True, timeout=120)


def test_it_is_imported_and_run_as_it_is(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    script = "import snapstate_sdk as it; print(it.__file__, it.__version__); it.SnapStateClient('snp_x').close()"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ran.stdout == f"{tmp_path}/snapstate_sdk/__init__.py 2.0.0\n"
