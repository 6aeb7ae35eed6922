"""The same answers whatever tier they come from: hot, warm after the loss of Redis, both merged."""

from collections.abc import Callable

import httpx
import redis as redis_py

from tests.checkpoints.steps import replay, resume, save, save_raw, steps_of

Intake = Callable[[], None]
ODD = '{\n  "b": 1.0, "a": [1E2, 9007199254740993, -0.0], "u": "a\\u0000b \\ud83e\\udd16 é", "e": [{}, []] }'


def test_a_workflow_is_read_from_postgres_when_redis_lost_everything(
    api: httpx.Client, intake: Intake, redis: redis_py.Redis
) -> None:
    for step in range(1, 41):
        save(api, "wf", step, {"history": list(range(step))}, label=f"l{step % 2}", metadata={"k": step})
    before = [resume(api, "wf").json(), replay(api, "wf").json(), api.get("/checkpoints/cp_wf_007").json()]
    intake()
    redis.flushall()
    after = [replay(api, "wf").json(), api.get("/checkpoints/cp_wf_007").json()]
    assert after == before[1:]
    assert resume(api, "wf").json() == before[0]


def test_saving_goes_on_after_the_loss_of_redis(api: httpx.Client, intake: Intake, redis: redis_py.Redis) -> None:
    etags = [save(api, "wf", step).headers["ETag"] for step in range(1, 31)]
    intake()
    redis.flushall()
    assert save(api, "wf", 3).headers["ETag"] == etags[2]
    answer = save(api, "wf", 31, headers={"If-Match": etags[-1]})
    assert (answer.status_code, answer.json()["diff_from_previous"]["changed"]) == (201, ["n"])
    assert save(api, "wf", 30, {"other": 1}).status_code == 409
    intake()
    assert steps_of(replay(api, "wf")) == list(range(1, 32))
    assert resume(api, "wf").json()["total_checkpoints"] == 31


def test_the_source_of_a_resume_is_named(api: httpx.Client, intake: Intake, redis: redis_py.Redis) -> None:
    save(api, "wf", 1)
    intake()
    redis.flushall()
    assert [resume(api, "wf").json()["source"] for _ in range(2)] == ["warm", "hot"]


def test_state_is_byte_equal_from_each_tier(api: httpx.Client, intake: Intake, redis: redis_py.Redis) -> None:
    save_raw(api, "wf", 1, ODD)
    save_raw(api, "wf", 2, ODD.replace("1.0", "1.5"))
    assert ODD.encode() in api.get("/checkpoints/cp_wf_001").content
    intake()
    redis.flushall()
    assert ODD.encode() in replay(api, "wf").content
    assert ODD.replace("1.0", "1.5").encode() in resume(api, "wf").content


def test_a_long_history_stays_small_in_redis_and_whole_in_replay(
    api: httpx.Client, intake: Intake, redis: redis_py.Redis
) -> None:
    for step in range(1, 121):
        save(api, "long", step, {"text": "x" * 3000, "n": step})
        if step % 30 == 0:
            intake()
    logs = [redis.xlen(key) for key in redis.scan_iter("wf:*:log")]
    assert max(logs) == 20
    assert steps_of(replay(api, "long", limit=1000)) == list(range(1, 121))
    assert save(api, "long", 5, {"text": "x" * 3000, "n": 5}).status_code == 200
    assert save(api, "long", 5).status_code == 409


def test_replay_filters_first_and_pages_after(api: httpx.Client, intake: Intake) -> None:
    for step in range(1, 61):
        save(api, "wf", step, label="odd" if step % 2 else "even")
        if step == 45:
            intake()
    page = replay(api, "wf", from_step=21, limit=10)
    assert (steps_of(page), page.json()["has_more"]) == (list(range(21, 31)), True)
    seen: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = replay(api, "wf", label="even", limit=7, to_step=56, **cursor)
        seen += steps_of(page)
        if not page.json()["has_more"]:
            break
        cursor = {"cursor": page.json()["next_cursor"]}
    assert seen == list(range(2, 57, 2))


def test_an_unknown_workflow_replays_as_empty(api: httpx.Client) -> None:
    answer = replay(api, "nothing")
    assert answer.json() == {
        "workflow_id": "nothing",
        "checkpoints": [],
        "total": 0,
        "has_more": False,
        "next_cursor": None,
    }


def test_a_replaced_head_leaves_every_other_step_readable(
    api: httpx.Client, intake: Intake, redis: redis_py.Redis
) -> None:
    for step in range(1, 6):
        etag = save(api, "wf", step, {"h": list(range(step * 50))}).headers["ETag"]
    intake()
    for version in ("a", "b"):
        etag = save(api, "wf", 5, {"h": version}, headers={"If-Match": etag}).headers["ETag"]
    intake()
    save(api, "wf", 7, {"h": 7})
    intake()
    save(api, "wf", 6, {"h": 6})
    intake()
    redis.flushall()
    states = [checkpoint["state"]["h"] for checkpoint in replay(api, "wf").json()["checkpoints"]]
    assert states == [*(list(range(step * 50)) for step in range(1, 5)), "b", 6, 7]


def put_back(redis: redis_py.Redis, copies: dict[bytes, bytes]) -> None:
    """Redis as it was at an earlier time, started anew."""
    redis.flushall()
    for key, copy in copies.items():
        redis.restore(key, 0, copy)
    for key in redis.scan_iter("wf:*:head"):
        redis.hset(key, "run", "a server run before")


def test_an_older_redis_does_not_hide_what_postgres_has(
    api: httpx.Client, intake: Intake, redis: redis_py.Redis
) -> None:
    for step in range(1, 4):
        save(api, "wf", step)
    copies = {key: redis.dump(key) or b"" for key in redis.scan_iter("*")}
    newest = save(api, "wf", 4)
    intake()
    put_back(redis, copies)
    assert resume(api, "wf").json()["latest_checkpoint"]["etag"] == newest.headers["ETag"]
    assert save(api, "wf", 4).status_code == 200
    assert save(api, "wf", 5).status_code == 201
    intake()
    assert steps_of(replay(api, "wf")) == [1, 2, 3, 4, 5]
    assert resume(api, "wf").json()["total_checkpoints"] == 5
