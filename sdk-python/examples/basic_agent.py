"""An agent that takes stock of a folder, a file a step; stop it when you like, it goes on where it was.

export SNAPSTATE_API_KEY=snp_… SNAPSTATE_API_URL=http://127.0.0.1:8000
python examples/basic_agent.py stock-1 ~/papers
"""

import hashlib
import os
import sys
import time
from pathlib import Path
from typing import Any

from snapstate_sdk import SnapStateClient

PAUSE_SECONDS = float(os.environ.get("PAUSE_SECONDS", "0"))  # as long as a real agent thinks


def look_at(file: Path) -> dict[str, Any]:
    """The work of one step."""
    time.sleep(PAUSE_SECONDS)
    content = file.read_bytes()
    return {"bytes": len(content), "words": len(content.split()), "sha256": hashlib.sha256(content).hexdigest()}


def main(workflow_id: str, folder: str) -> None:
    with SnapStateClient() as client, client.workflow(workflow_id, agent_id="stock-taker", on_error="record") as wf:
        if wf.status == "completed":
            print(f"was done before: {wf.state['totals']}")
            return
        if not wf.resumed:
            files = sorted(str(path) for path in Path(folder).iterdir() if path.is_file())
            wf.checkpoint("planned", {"todo": files, "seen": {}})
        print(f"{'resumed' if wf.step > 1 else 'began'} at step {wf.step}", flush=True)
        while wf.state["todo"]:
            path, *rest = wf.state["todo"]
            seen = {**wf.state["seen"], path: look_at(Path(path))}
            saved = wf.checkpoint(f"looked at {Path(path).name}"[:256], {"todo": rest, "seen": seen})
            print(f"saved step {saved.step}: {path}", flush=True)
        looks = wf.state["seen"].values()
        totals = {"files": len(looks), "bytes": sum(look["bytes"] for look in looks)}
        wf.complete({**wf.state, "totals": totals})
        print(f"done: {totals}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
