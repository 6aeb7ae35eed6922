"""Recorded agent runs as checkpoints: each message is a step, its state all that was said so far."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from snapstate_project.dev.home import BASE_DIR

FOLDER = Path(os.environ.get("TRAJECTORIES_DIR") or BASE_DIR.parent / "shared" / "data" / "trajectories")


class Message(NamedTuple):
    step: int
    state: dict[str, Any]
    label: str


def paths() -> list[Path]:
    """In the order of their names; none where the folder does not exist."""
    return sorted(FOLDER.glob("*.traj"))


def messages(path: Path) -> Iterator[Message]:
    run = json.loads(path.read_text())
    for step, message in enumerate(run["history"]):
        yield Message(step, {"history": run["history"][: step + 1], "info": run["info"]}, message["role"])
