"""Hostile inputs, tiers: Redis lost or older than Postgres, intake killed; nothing that had its 201 is gone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest
import redis as redis_py

from accounts.models import Account
from checkpoints import rows
from checkpoints.models import Checkpoint, Workflow
from checkpoints.record import RecordBatch
from snapstate_project.events import intake as taking
from tests.checkpoints.racing import writes
from tests.hostile.reading import body, save, saved, send
from tests.hostile.test_order import head_of, n, steps

Move = Callable[[], None]


@contextmanager
def befalling(**accidents: Callable[[], object]) -> Iterator[taking.Intake]:
    """An intake to which something happens after it has fetched, recorded or committed a batch."""

    class Befallen(RecordBatch):
        def fetch(self) -> None:
            super().fetch()
            accidents.get("fetched", int)()

        def record(self, cursor: Any) -> Any:
            events = super().record(cursor)
            accidents.get("recorded", int)()
            return events

        def settle(self) -> None:
            accidents.get("committed", super().settle)()

    intake = taking.Intake()
    intake.batch_type = Befallen
    yield intake
    intake.release()


def test_a_redis_that_is_older_than_postgres_hides_nothing(
    api: httpx.Client, wf: str, intake: Move, redis: redis_py.Redis
) -> None:
    etags = [saved(save(api, wf, step, n(step))).headers["ETag"] for step in range(3)]
    copy = {key: redis.dump(key) for key in redis.scan_iter("wf:*")}
    etags += [saved(save(api, wf, step, n(step))).headers["ETag"] for step in range(3, 6)]
    intake()
    come_back_from(redis, copy)
    assert head_of(api, wf)["latest_checkpoint"]["etag"] == etags[-1]
    etags.append(saved(send(api, body(wf, 6, n(6)), If_Match=etags[-1])).headers["ETag"])
    intake()
    assert steps(api, wf) == list(range(7))
    assert len({etag.split("-")[1] for etag in etags}) == 7


def come_back_from(redis: redis_py.Redis, copy: dict[bytes, Any]) -> None:
    """As Redis restarted from that copy, under a new run_id."""
    redis.flushall()
    for key, value in copy.items():
        redis.restore(key, 0, value)
    for key in redis.scan_iter("wf:*:head"):
        redis.hset(key, "run", "the run before")


@pytest.mark.parametrize("moment", ["fetched", "recorded"])
@pytest.mark.parametrize("later", [3, 7])
def test_a_loss_of_redis_between_reading_and_commit_drops_nothing(
    api: httpx.Client, wf: str, intake: Move, redis: redis_py.Redis, moment: str, later: int
) -> None:
    intake()
    first = saved(save(api, wf, 5, n(5)))

    def lose() -> None:
        redis.flushall()
        saved(save(api, wf, later, n(later)))

    with befalling(**{moment: lose}) as interrupted:
        interrupted.cycle()
    intake()
    assert steps(api, wf) == sorted({5, later})
    assert head_of(api, wf)["latest_checkpoint"]["step"] == max(5, later)
    assert head_of(api, wf)["total_checkpoints"] == 2
    assert saved(save(api, wf, 5, n(5)), 200).headers["ETag"] == first.headers["ETag"]


@pytest.mark.parametrize("moment", ["fetched", "recorded"])
def test_a_resume_after_a_loss_of_redis_hides_nothing_that_is_about_to_be_committed(
    api: httpx.Client, wf: str, intake: Move, redis: redis_py.Redis, moment: str
) -> None:
    saved(save(api, wf, 1, n(1)))
    intake()
    saved(save(api, wf, 2, n(2)))

    def lose() -> None:
        redis.flushall()
        assert head_of(api, wf)["latest_checkpoint"]["step"] == 1  # Postgres has no more than that yet

    with befalling(**{moment: lose}) as interrupted:
        interrupted.cycle()
    assert (head_of(api, wf)["latest_checkpoint"]["step"], steps(api, wf)) == (2, [1, 2])
    assert save(api, wf, 2, n(2)).status_code == 200


def test_intake_killed_between_commit_and_settle_takes_nothing_twice(
    api: httpx.Client, account: Account, wf: str, intake: Move, redis: redis_py.Redis
) -> None:
    intake()
    before = writes(account.pk)
    for step in range(5):
        saved(save(api, wf, step, n(step)))
    copy = {key: redis.dump(key) for pattern in ("wf:*", "events:*") for key in redis.scan_iter(pattern)}
    with befalling(committed=int) as killed:
        killed.cycle()
    for _ in range(2):
        intake()
        come_back_from(redis, copy)  # with the settled entries in its queue
    intake()
    assert (writes(account.pk) - before, steps(api, wf)) == (5, list(range(5)))
    assert head_of(api, wf)["total_checkpoints"] == Checkpoint.objects.filter(workflow__workflow_id=wf).count() == 5


@pytest.mark.parametrize("tier", ["hot", "lost"])
def test_two_seconds_after_the_last_save_redis_may_be_lost(
    api: httpx.Client, wf: str, intake: Move, redis: redis_py.Redis, tier: str
) -> None:
    etags = [saved(save(api, wf, step, n(step))).headers["ETag"] for step in range(30)]
    intake()
    if tier == "lost":
        redis.flushall()
    assert [state for step in (0, 29) for state in [api.get(f"/checkpoints/cp_{wf}_{step:03d}").json()["state"]]] == [
        {"n": 0},
        {"n": 29},
    ]
    assert saved(save(api, wf, 7, n(7)), 200).headers["ETag"] == etags[7]
    saved(send(api, body(wf, 30, n(30)), If_Match=etags[29]))
    assert (steps(api, wf), head_of(api, wf)["total_checkpoints"]) == (list(range(31)), 31)


@pytest.mark.parametrize("damage", ["body = '\\x00'", "base = 1, body = substr(body, 2)"])
def test_a_damaged_row_holds_back_nobody(
    api: httpx.Client, wf: str, intake: Move, sql: "psycopg.Connection[Any]", damage: str
) -> None:
    saved(save(api, wf, 1, n(1)))
    intake()
    row = Workflow.objects.get(workflow_id=wf).pk
    sql.execute(f"UPDATE checkpoints_checkpoint SET {damage} WHERE workflow_id = %s".encode(), [row])
    rows.cache.drop(row)
    saved(save(api, wf, 2, n(2)))
    saved(save(api, f"{wf}-sound", 1, n(1)))
    intake()
    rows.cache.drop(row)
    saved(save(api, wf, 3, n(3)))
    intake()
    assert steps(api, wf, "from_step=2") == [2, 3]
    assert Workflow.objects.get(workflow_id=wf).head_step == 3
    assert Checkpoint.objects.filter(workflow__workflow_id=f"{wf}-sound").count() == 1
    saved(api.delete(f"/workflows/{wf}"), 204)
