"""What stands in Redis is answered from there, however long the history behind it and whatever Postgres does."""

import random
import time
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import redis as redis_py

from checkpoints import reads, services
from checkpoints.verdicts import Range, Tail
from snapstate_project.common.errors import PostgresDown
from tests.checkpoints.steps import replay, resume, save, steps_of


@pytest.fixture
def long(api: httpx.Client, intake: Any) -> str:
    """Forty steps, of which Redis holds the last twenty. Its last etag."""
    etags = [save(api, "wf", step).headers["ETag"] for step in range(1, 41)]
    intake()
    return etags[-1]


@pytest.fixture
def no_postgres(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: Any) -> None:
        raise PostgresDown

    monkeypatch.setattr(reads, "_colder", down)


@pytest.mark.usefixtures("no_postgres")
def test_reads_of_the_last_steps_need_no_postgres(api: httpx.Client, long: str) -> None:
    assert resume(api, "wf").status_code == 200
    head = api.head("/workflows/wf/resume")
    assert (head.status_code, head.headers["ETag"], head.headers.get("Content-Length")) == (200, long, None)
    assert [api.get(f"/checkpoints/cp_wf_0{step}").status_code for step in (40, 39, 22, 20)] == [200, 200, 200, 503]
    assert steps_of(replay(api, "wf", from_step=39)) == [39, 40]
    page = replay(api, "wf", from_step=25, to_step=90, limit=3)
    assert (steps_of(page), page.json()["has_more"]) == ([25, 26, 27], True)
    assert api.get("/workflows/wf/diff").json()["diff"]["changed"] == ["n"]
    assert replay(api, "wf").status_code == 503


@pytest.mark.usefixtures("no_postgres")
def test_saves_of_the_last_steps_have_their_diff_without_postgres(api: httpx.Client, long: str) -> None:
    again = save(api, "wf", 40)
    assert (again.status_code, again.json()["diff_from_previous"]["changed"]) == (200, ["n"])
    other = save(api, "wf", 40, {"other": 1}, headers={"If-Match": long})
    assert (other.status_code, other.json()["diff_from_previous"]["removed"]) == (201, ["n"])


def test_a_replay_from_redis_alone_is_metered_once(api: httpx.Client, intake: Any, long: str) -> None:
    replay(api, "wf", from_step=39)
    intake()
    assert api.get("/usage").json()["usage"]["replay_calls"]["count"] == 1


@pytest.mark.usefixtures("long")
def test_reads_go_on_while_redis_is_full_and_are_metered(api: httpx.Client, intake: Any, redis: redis_py.Redis) -> None:
    redis.config_set("maxmemory", 1)
    try:
        paths = ("workflows/wf", "workflows/wf/diff", "checkpoints/cp_wf_040", "checkpoints/cp_wf_001")
        assert {api.get(f"/{path}").status_code for path in paths} == {200}
        assert (resume(api, "wf").status_code, len(steps_of(replay(api, "wf")))) == (200, 40)
        assert steps_of(replay(api, "wf", from_step=39)) == [39, 40]
        assert (save(api, "wf", 41).status_code, api.patch("/workflows/wf", json={"pinned": True}).status_code) == (
            503,
            503,
        )
    finally:
        redis.config_set("maxmemory", 0)
    intake()
    usage = api.get("/usage").json()["usage"]
    assert (usage["resume_calls"]["count"], usage["replay_calls"]["count"]) == (1, 2)


def test_an_answer_to_a_save_does_not_wait_long_for_its_diff(
    api: httpx.Client, long: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "_colder", lambda *_: time.sleep(3))
    monkeypatch.setattr(services, "DIFF_WITHIN_SECONDS", 0.2)
    save(api, "gaps", 1)
    monkeypatch.setattr(reads, "has_no_gap", lambda *_: False)
    began = time.monotonic()
    answer = save(api, "wf", 40)
    assert (answer.status_code, answer.json()["diff_from_previous"]) == (200, None)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("seed", range(20))
def test_where_no_gap_is_seen_the_tail_says_what_all_tiers_say(seed: int) -> None:
    rng, sure = random.Random(seed), 0
    for _ in range(500):
        every = sorted(rng.sample(range(14), rng.randint(1, 10)))
        tail = sorted({every[-1], *rng.sample(every, rng.randint(0, len(every) - 1))})
        first, last = rng.randint(0, 14), rng.choice([rng.randint(0, 16), 2**53 - 1])
        wanted = Range(first=first, last=last, limit=rng.choice([1, 2, 3, 99]), newest_first=rng.random() < 0.5)
        told, more = answer(tail, wanted)
        if reads.has_no_gap(tail_of(told, more=more, head=every[-1]), wanted):
            sure += 1
            assert told == answer(every, wanted)[0]
            assert wanted.newest_first or more == answer(every, wanted)[1]
    assert sure > 20


def answer(steps: list[int], wanted: Range) -> tuple[list[int], bool]:
    within = sorted((s for s in steps if wanted.first <= s <= wanted.last), reverse=wanted.newest_first)
    return within[: wanted.limit], len(within) > wanted.limit


def tail_of(steps: list[int], *, more: bool, head: int) -> Tail:
    entries: Any = [SimpleNamespace(step=step) for step in steps]
    return Tail(SimpleNamespace(step=head), entries, False, more)  # type: ignore[arg-type]
