"""Programs that stand on the JavaScript SDK, run by each node there is, against the live server."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from snapstate_project.dev.home import BASE_DIR

SDK = BASE_DIR / "sdk"
BESIDE = str(Path(sys.executable).parent / "node")
SYSTEM = "/usr/bin/node"


def version(node: str) -> int:
    """Its major; 0 when there is none."""
    if not shutil.which(node):
        return 0
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)", said)
    return int(found[1]) if found else 0


def nodes() -> list[str]:
    """Ours, and the machine's where it is another one that is new enough for what tests the SDK."""
    ours, theirs = version(BESIDE), version(SYSTEM)
    return [BESIDE, *([SYSTEM] if theirs >= 20 and theirs != ours else [])]


def environment(base_url: str, key: str) -> dict[str, str]:
    """No proxy of the outer environment comes between."""
    outer = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return {**outer, "SNAPSTATE_API_URL": base_url, "SNAPSTATE_API_KEY": key, "NO_COLOR": "1"}


def run(
    script: str, *args: str, base_url: str, key: str, node: str = BESIDE, said: str = "", seconds: int = 100
) -> str:
    """What a program in sdk/ prints. AssertionError: it failed, with what it complained of. `node`: or another such."""
    done = subprocess.run(
        [*node.split(), str(SDK / script), *args],
        cwd=SDK,
        input=said,
        env=environment(base_url, key),
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-1000:]
    return done.stdout


def tell(script: str, *args: str, of: Any, base_url: str, key: str) -> Any:
    """Sends JSON to its standard input and reads JSON from its output."""
    return json.loads(run(script, *args, base_url=base_url, key=key, said=json.dumps(of)))
