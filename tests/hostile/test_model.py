"""Random histories against a model of the rules: whatever comes in whatever order, from whatever tier, both agree."""

import os
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import redis as redis_py

from checkpoints import archiving
from checkpoints.record import RecordBatch
from snapstate_project.events import intake as taking
from tests.checkpoints.racing import writes
from tests.hostile.conftest import expire_all

SEEDS = range(int(os.environ.get("RANDOM_HISTORIES", "3")))
TURNS = 120
CONTENTS = ['{"a": 1}', '{"a": 2, "l": [1, {}]}', '{"b": [[]], "a": 2}']
STEPS = 40


class Model:
    """The rules of a save, in their order; `steps` are content, etag and guard of each."""

    def __init__(self) -> None:
        self.steps: dict[int, tuple[int, str, str]] = {}
        self.stale = '"1-1-0000000000000000"'
        self.saves = 0

    @property
    def head(self) -> str:
        return self.steps[max(self.steps)][1] if self.steps else ""

    def expects(self, step: int, content: int, guard: str) -> int:
        found = self.steps.get(step)
        if found and found[0] == content and guard in ("", found[2]):
            return 200
        if guard and not self.passes(guard):
            return 409
        if not self.steps or step > max(self.steps):
            return 201
        if step == max(self.steps) and guard.startswith('"'):
            return 201
        return 201 if not found and not guard else 409

    def passes(self, guard: str) -> bool:
        if guard in ("*", "!"):
            return bool(self.steps) is (guard == "*")
        return guard == self.head

    def take(self, step: int, content: int, guard: str, etag: str) -> None:
        self.stale = self.head or self.stale
        self.steps[step] = (content, etag, guard)
        self.saves += 1

    def existing(self, step: int, guard: str) -> str | None:
        """The etag that a refusal names."""
        if guard and not self.passes(guard):
            return self.head or None
        return self.steps[step][1] if step in self.steps else None


class Player:
    def __init__(self, seed: int, api: httpx.Client, moves: Sequence[Callable[[], object]]) -> None:
        self.random, self.api, self.moves = random.Random(seed), api, moves
        self.models = {f"wf-{seed}-{number}": Model() for number in range(3)}

    def play(self) -> None:
        for _ in range(TURNS):
            name, model = self.random.choice(list(self.models.items()))
            turns: list[Callable[[str, Model], object]] = [self.saves, self.reads, self.erases, self.moves_on]
            self.random.choices(turns, [70, 20, 2, 12])[0](name, model)
        for name, model in self.models.items():
            self.reads(name, model)

    def saves(self, name: str, model: Model) -> None:
        highest = max(model.steps, default=0)
        step = self.random.choice([highest + 1, highest + 1, highest + 1, highest, self.random.randrange(STEPS)])
        content = self.random.randrange(len(CONTENTS))
        known = model.steps.get(step, (0, "", ""))[2]
        guard = self.random.choice(["", "", "", model.head, model.head, known, "*", "!", model.stale])
        headers = {} if not guard else {"If-None-Match": "*"} if guard == "!" else {"If-Match": guard}
        answer = self.send(name, step, content, headers)
        told = f"{name} {step} {content} {guard!r} of {model.steps}: {answer.text}"
        assert answer.status_code == model.expects(step, content, guard), told
        if answer.status_code == 409:
            assert (answer.json()["existing"] or {"etag": None})["etag"] == model.existing(step, guard), told
        elif answer.status_code == 200:
            assert answer.headers["ETag"] == model.steps[step][1], told
        else:
            model.take(step, content, guard, answer.headers["ETag"])

    def send(self, name: str, step: int, content: int, headers: dict[str, str]) -> httpx.Response:
        text = f'{{"workflow_id": "{name}", "step": {step}, "state": {CONTENTS[content]}}}'
        usual = {"Content-Type": "application/json", "X-Checkpoint-TTL": "60"}
        return self.api.post("/checkpoints", content=text, headers={**usual, **headers})

    def reads(self, name: str, model: Model) -> None:
        resumed = self.api.get(f"/workflows/{name}/resume")
        assert resumed.status_code == (200 if model.steps else 404), (name, model.steps, resumed.text)
        found = self.replay(name, self.random.choice([1, 7, 1000]))
        assert [(c["step"], c["etag"]) for c in found] == [(s, model.steps[s][1]) for s in sorted(model.steps)]
        if model.steps:
            head = resumed.json()
            assert (head["latest_checkpoint"]["etag"], head["total_checkpoints"]) == (model.head, len(model.steps))
            step = self.random.choice(list(model.steps))
            got = self.api.get(f"/checkpoints/cp_{name}_{step:03d}")
            assert CONTENTS[model.steps[step][0]].encode() in got.content

    def replay(self, name: str, limit: int) -> list[Any]:
        found: list[Any] = []
        more: dict[str, str] = {}
        while True:
            page = self.api.get(f"/workflows/{name}/replay", params={"limit": limit, **more}).json()
            found += page["checkpoints"]
            if not page["has_more"]:
                return found
            more = {"cursor": page["next_cursor"]}

    def erases(self, name: str, model: Model) -> None:
        assert self.api.delete(f"/workflows/{name}").status_code == (204 if model.steps else 404)
        model.steps.clear()

    def moves_on(self, *_: object) -> None:
        self.random.choice(self.moves)()


class Moves:
    """What happens meanwhile behind the API; nothing of it may be seen."""

    def __init__(self, intake: Callable[[], None], redis: redis_py.Redis) -> None:
        self.intake, self.redis = intake, redis
        self.copies: dict[bytes, Any] = {}
        self.all = [
            intake, self.lose_redis, self.restart_redis, self.copy, self.restore, self.archive, self.archive_in_part,
            self.commit_and_die,
        ]  # fmt: skip

    def lose_redis(self) -> None:
        self.intake()
        self.redis.flushall()

    def restart_redis(self) -> None:
        for key in self.redis.scan_iter("wf:*:head"):
            self.redis.hset(key, "run", "a run before")

    def copy(self) -> None:
        self.copies = {key: self.redis.dump(key) for key in self.redis.scan_iter("*") if not key.startswith(b"key:")}

    def restore(self) -> None:
        """Redis comes back from a copy that may be much older than what Postgres has."""
        self.lose_redis()
        for key, copy in self.copies.items():
            self.redis.restore(key, 0, copy)
        self.restart_redis()

    def archive(self) -> None:
        self.intake()
        expire_all()

    def archive_in_part(self) -> None:
        """What Redis is ahead of stays, and nothing is let go of yet."""
        archiving.archive_expiring(now=datetime.now(UTC) + timedelta(seconds=59))

    def commit_and_die(self) -> None:
        dying = taking.Intake()
        dying.batch_type = Unsettled
        dying.cycle()
        dying.release()


class Unsettled(RecordBatch):
    """As if killed between commit and settle."""

    def settle(self) -> None:
        pass


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_history_is_as_the_rules_say(
    seed: int, account: Any, api: httpx.Client, intake: Callable[[], None], redis: redis_py.Redis
) -> None:
    before = writes(account.id)
    player = Player(seed, api, Moves(intake, redis).all)
    player.play()
    intake()
    assert writes(account.id) - before == sum(model.saves for model in player.models.values())
