"""What a save costs beyond a bare httpx2 call with the same body: `python bench/overhead.py URL KEY [rounds]`.

Both are called in turn, so that a busy machine is busy for both; what counts is the median.
"""

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx2

from snapstate_sdk import SnapStateClient

HISTORY = [{"role": "assistant", "content": "The moon pulls the sea. " * 8, "tokens": 57, "seen": None}]
STATES = {"small": {"topic": "tides", "notes": ["the moon pulls"]}, "58 KB": {"history": HISTORY * 225}}


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def compare(url: str, key: str, state: dict[str, Any], rounds: int) -> tuple[float, float]:
    """Medians in seconds: bare httpx2 (dict to dict, as `json=` and `.json()` do it), then the SDK."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    bare: list[float] = []
    ours: list[float] = []
    name = f"bench-{time.time_ns()}"
    with httpx2.Client(base_url=url, headers=headers) as plain, SnapStateClient(key, url) as sdk:
        for step in range(1, rounds + 1):
            state["step"] = step
            body = {"workflow_id": f"{name}-bare", "step": step, "state": state}
            acts = [
                (bare, lambda body=body: plain.post("/checkpoints", json=body).raise_for_status().json()),
                (ours, lambda step=step: sdk.save(f"{name}-sdk", step, state)),
            ]
            for into, act in acts if step % 2 else reversed(acts):
                into.append(timed(act))
    return statistics.median(bare[rounds // 10 :]), statistics.median(ours[rounds // 10 :])


def main(url: str, key: str, rounds: str = "1000") -> None:
    gc.disable()
    for name, state in STATES.items():
        bare, ours = compare(url, key, json.loads(json.dumps(state)), int(rounds))
        print(f"{name:>6}: bare httpx2 {bare * 1e6:7.0f} µs, SDK {ours * 1e6:7.0f} µs, {ours / bare:.3f} times")


if __name__ == "__main__":
    main(*sys.argv[1:])
