"""The states that agents save: messages of recorded runs where there are any, each step appending to the one before."""

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from checkpoints.content import Envelope, digest, encode_envelope
from snapstate_project.dev.home import BASE_DIR

type State = dict[str, Any]

ROLES = ("assistant", "tool")
LABEL, AGENT = "tool", "bench"
ENVELOPE = encode_envelope(Envelope(LABEL, AGENT, "active", None))
WORDS = ["def", "return", "self", "error", "expected", "the", "file", "was", "changed", "open", "line", "test"]


@dataclass(frozen=True)
class Course:
    """One workflow's life: its states in their order, as objects, as JSON text, and the digests of their contents."""

    objects: list[State]
    texts: list[bytes]
    digests: list[str]

    @property
    def average(self) -> float:
        return sum(map(len, self.texts)) / len(self.texts)


class Recorded(NamedTuple):
    """One step of a recorded run."""

    run: str
    step: int
    label: str
    text: bytes


def trajectories_folder() -> Path:
    return Path(os.environ.get("TRAJECTORIES_DIR") or BASE_DIR.parent / "shared" / "data" / "trajectories")


def recorded_steps() -> list[Recorded]:
    """Every step of every recorded run as a checkpoint; runs of made-up messages where no recordings are."""
    steps: list[Recorded] = []
    for path in sorted(trajectories_folder().glob("*.traj")):
        recorded = json.loads(path.read_bytes())
        steps += run_steps(path.stem, recorded["history"], recorded.get("info", {}))
    return steps or [step for seed in range(6) for step in run_steps(f"made-{seed}", made_up_history(seed), {})]


def run_steps(run: str, history: list[State], info: State) -> Iterator[Recorded]:
    for step, message in enumerate(history):
        yield Recorded(run, step, message["role"], orjson.dumps({"history": history[: step + 1], "info": info}))


def made_up_history(seed: int) -> list[State]:
    chance = random.Random(seed)  # noqa: S311 (text to measure with)
    return [
        {"role": role, "content": " ".join(chance.choices(WORDS, k=chance.randint(40, 600)))}
        for role, _ in zip(cycle(ROLES), range(24), strict=False)
    ]


@cache
def all_text() -> str:
    """What agents and tools said, one after the other."""
    last = {step.run: step for step in recorded_steps()}
    messages = [message for step in last.values() for message in json.loads(step.text)["history"]]
    return "\n".join(message["content"] for message in messages if isinstance(message.get("content"), str))


def make_course(size: int, *, steps: int, spread: float) -> Course:
    """States of `size` bytes on average, growing evenly from `1 - spread` to `1 + spread` times that."""
    text, at = all_text(), 0
    growth = max(int(2 * spread * size / steps), 60)
    history: list[State] = []
    objects: list[State] = []
    for step in range(steps):
        wanted = size * (1 - spread + 2 * spread * (step + 0.5) / steps)
        while (missing := int(wanted) - len(orjson.dumps(state_of(step, history)))) >= growth // 2:
            length = max(1, min(missing, growth) - 32)
            at = 0 if at + length > len(text) else at
            history.append({"role": ROLES[len(history) % 2], "content": text[at : at + length]})
            at += length
        objects.append(state_of(step, list(history)))
    texts = [orjson.dumps(state) for state in objects]
    return Course(objects, texts, [digest(ENVELOPE, b"", text) for text in texts])


def state_of(step: int, history: list[State]) -> State:
    return {"history": history, "info": {"exit_status": None, "model_stats": {"api_calls": step}}}
