"""Agents in a process of their own: `python -m tests.promises.agents_at_work URL KEY SEED OPERATIONS`.

They save, fail, complete, replace, repeat, resume and replay, each until it is answered, and print as one line of JSON
what must have been counted.
"""

import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.promises.calling import LOST, Answer, Caller

WORKFLOWS = 12
AGENTS = ("planner", "coder", "tester")
PATIENCE_SECONDS = 60.0
LATELY = 25


@dataclass
class Work:
    """One workflow as its only writer knows it."""

    name: str
    bodies: list[bytes] = field(default_factory=list)
    etag: str = ""
    status: str = "active"
    told: Counter[str] = field(default_factory=Counter)

    def summary(self) -> dict[str, Any]:
        return {"name": self.name, "steps": len(self.bodies), "status": self.status, "told": self.told}


class Agents:
    def __init__(self, caller: Caller, seed: int) -> None:
        self.caller = caller
        self.random = random.Random(seed)
        self.works = [Work(f"{seed}-{n}") for n in range(WORKFLOWS)]

    def act(self) -> None:
        work = self.random.choice(self.works)
        acts = [self.save, self.replace, self.repeat, self.resume, self.replay]
        self.random.choices(acts, weights=[50, 8, 12, 20, 10])[0](work) if work.bodies else self.save(work)

    def save(self, work: Work) -> None:
        self.write(work, len(work.bodies) + 1)
        work.told["steps"] += 1

    def replace(self, work: Work) -> None:
        """The head, by a new revision of it."""
        self.write(work, len(work.bodies), **{"If-Match": work.etag})

    def write(self, work: Work, step: int, **headers: str) -> None:
        status = self.random.choices(["active", "failed", "completed"], weights=[80, 12, 8])[0]
        error = {"type": "ToolError", "message": "no luck"} if self.random.random() < 0.1 else None
        state = {
            "work": work.name,
            "step": step,
            "said": ["x" * 40] * self.random.randrange(20),
            "n": work.told["writes"],
        }
        fields = {"workflow_id": work.name, "step": step, "state": state, "status": status, "error": error}
        body = json.dumps({**fields, "agent_id": self.random.choice(AGENTS)}).encode()
        answer = self.until_answered("POST", "/checkpoints", body, **headers)
        assert answer.status in (200, 201), (answer.status, answer.body)
        work.bodies[step - 1 :] = [body]
        work.told["writes"] += 1
        work.told["failures"] += status == "failed" or error is not None
        work.told[status] += status != work.status
        work.etag, work.status = answer.etag, status

    def repeat(self, work: Work) -> None:
        """An old step once more, as it stands now: the first answer, counted no second time."""
        body = self.random.choice(work.bodies[-LATELY:-1] or work.bodies[:1])
        answer = self.until_answered("POST", "/checkpoints", body)
        work.told["repeated" if answer.status == 200 else "refused"] += 1
        assert answer.status in (200, 409), (answer.status, answer.body)

    def resume(self, work: Work) -> None:
        answer = self.until_answered("GET", f"/workflows/{work.name}/resume?agent_id={self.random.choice(AGENTS)}")
        assert answer.json["latest_checkpoint"]["etag"] == work.etag, (answer.json, work.etag)
        work.told["resumes"] += 1

    def replay(self, work: Work) -> None:
        first = max(1, len(work.bodies) - LATELY)
        answer = self.until_answered("GET", f"/workflows/{work.name}/replay?from_step={first}")
        assert answer.json["total"] == len(work.bodies) - first + 1, answer.json
        work.told["replays"] += 1

    def until_answered(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """A save whose answer is lost may be sent again; of a reading nobody could say whether it was counted."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self.caller.call(method, path, body, **headers)
            except LOST:
                if body is None or time.monotonic() > until:
                    raise
                time.sleep(0.1)


def main(url: str, key: str, seed: int, operations: int) -> None:
    with Caller(url, key, patience_seconds=PATIENCE_SECONDS) as caller:
        agents = Agents(caller, seed)
        for _ in range(operations):
            agents.act()
    print(json.dumps([work.summary() for work in agents.works if work.bodies]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
