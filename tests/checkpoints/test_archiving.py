"""The third tier: what expires moves, can always be resumed, and goes on."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import psycopg
import pytest
import redis as redis_py
from django.core.files.storage import storages

from accounts.models import Account
from checkpoints import archive, archiving, store
from checkpoints.models import ArchiveIntent, ArchiveProblem, ArchiveSegment, Checkpoint, Workflow
from snapstate_project.events.models import Event
from tests.checkpoints.steps import existing, replay, resume, save, save_raw, steps_of

Intake = Callable[[], None]
SOON = {"X-Checkpoint-TTL": "60"}


def later(seconds: int = 3600) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def expire_all(seconds: int = 3600) -> None:
    """Two passes, as beat makes them: one moves, the next lets go."""
    archiving.archive_expiring(now=later(seconds))
    archiving.archive_expiring(now=later(seconds))


def claim_of(account: Account) -> archiving.Claim:
    done = archiving.Pass(later())
    while claim := archiving.claim_due(done):
        if claim.workflow.account_id == account.pk:
            return claim
        archiving.archive_claim(claim, done)
    raise AssertionError("nothing of this account is due")


@pytest.fixture
def archived(api: httpx.Client, intake: Intake) -> httpx.Client:
    for step in range(1, 31):
        save(api, "wf", step, {"h": list(range(step))}, label=f"l{step % 3}", metadata={"k": step}, headers=SOON)
    intake()
    expire_all()
    intake()
    return api


def test_nothing_of_an_archived_workflow_is_left_in_redis_or_rows(
    archived: httpx.Client, account: Account, redis: redis_py.Redis
) -> None:
    row = Workflow.objects.get(account=account)
    assert not Checkpoint.objects.filter(workflow=row).exists()
    assert not list(redis.scan_iter(f"wf:*{account.pk.hex}*"))
    assert row.stored_bytes == ArchiveSegment.objects.get(workflow=row).stored_bytes
    types = list(Event.objects.filter(account_id=account.pk).order_by("id").values_list("type", flat=True))
    assert types[-2:] == ["workflow.archived", "workflow.expired"]


def test_every_read_answers_from_the_archive(archived: httpx.Client) -> None:
    summary = archived.get("/workflows/wf").json()
    assert (summary["tier"], summary["expires_at"], summary["total_checkpoints"]) == ("archive", None, 30)
    assert archived.get("/workflows").json()["workflows"] == [summary]
    assert archived.get("/checkpoints/cp_wf_007").json()["state"] == {"h": list(range(7))}
    assert archived.get("/workflows/wf/diff").json()["diff"]["added"] == ["h[29]"]
    assert steps_of(replay(archived, "wf", label="l0", limit=3)) == [3, 6, 9]
    assert steps_of(replay(archived, "wf")) == list(range(1, 31))
    assert archived.get("/workflows/wf").json()["tier"] == "archive"


def test_a_resumed_workflow_is_hot_again_for_its_ttl(archived: httpx.Client, account: Account) -> None:
    answers = [resume(archived, "wf").json() for _ in range(2)]
    assert [answer["source"] for answer in answers] == ["archive", "hot"]
    assert answers[0]["latest_checkpoint"]["state"] == {"h": list(range(30))}
    assert answers[0]["expires_at"] is not None
    archiving.archive_expiring(now=later())
    assert archived.get("/workflows/wf").json()["tier"] == "archive"
    assert ArchiveSegment.objects.filter(workflow__account=account).count() == 1
    assert Event.objects.filter(account_id=account.pk, type="workflow.expired").count() == 1


def test_saving_goes_on_above_an_archived_head(archived: httpx.Client, intake: Intake) -> None:
    etag = archived.get("/workflows/wf").json()["etag"]
    assert existing(save(archived, "wf", 1, headers={"If-None-Match": "*"}))["etag"] == etag
    answer = save(archived, "wf", 31, {"h": []}, headers={"If-Match": etag, **SOON})
    assert (answer.status_code, answer.json()["diff_from_previous"]["added"]) == (201, ["h"])
    assert steps_of(replay(archived, "wf")) == list(range(1, 32))
    intake()
    assert archived.get("/workflows/wf").json()["total_checkpoints"] == 31
    expire_all()
    assert steps_of(replay(archived, "wf")) == list(range(1, 32))
    assert resume(archived, "wf").json()["latest_checkpoint"]["step"] == 31


def test_an_archived_step_sent_again_is_a_replay_and_changed_a_conflict(archived: httpx.Client) -> None:
    again = save(archived, "wf", 5, {"h": list(range(5))}, label="l2", metadata={"k": 5})
    assert again.status_code == 200
    assert save(archived, "wf", 5, {"h": [0]}, label="l2", metadata={"k": 5}).status_code == 409
    other_bytes = save_raw(archived, "wf", 30, '{"h": [1.0]}')
    assert other_bytes.status_code == 409


def test_an_archived_head_can_be_replaced_under_its_etag(archived: httpx.Client, intake: Intake) -> None:
    etag = archived.get("/workflows/wf").json()["etag"]
    assert save(archived, "wf", 30, {"h": "new"}, headers={"If-Match": etag}).status_code == 201
    intake()
    assert archived.get("/workflows/wf").json()["total_checkpoints"] == 30
    assert replay(archived, "wf", from_step=30).json()["checkpoints"][0]["state"] == {"h": "new"}
    assert archived.get("/workflows").json()["workflows"][0]["total_checkpoints"] == 30


def test_the_archive_keeps_states_byte_for_byte(api: httpx.Client, intake: Intake) -> None:
    odd = '{\n  "b": 1.0,\t"a": [1E2, -0.0], "u": "a\\u0000b\\u2028 é\u2028", "e": [{}, []] }'
    save_raw(api, "wf", 1, odd, **SOON)
    intake()
    expire_all()
    assert odd.encode() in resume(api, "wf").content


def test_a_save_while_its_workflow_is_being_archived_is_not_lost(
    api: httpx.Client, intake: Intake, account: Account
) -> None:
    save(api, "wf", 1, headers=SOON)
    intake()
    claim = claim_of(account)
    save(api, "wf", 2, headers=SOON)
    intake()
    archiving.archive_claim(claim, archiving.Pass())
    assert not ArchiveSegment.objects.filter(workflow__account=account).exists()
    assert not storages["archive"].exists(claim.intent.key)
    expire_all()
    assert steps_of(replay(api, "wf")) == [1, 2]
    assert not ArchiveIntent.objects.filter(workflow__account=account).exists()


class Killed(BaseException):
    """As a process dies: nothing that catches an Exception sees it."""


def dying(_before: bool, step: Callable[..., object]) -> Callable[..., object]:
    def run(*args: object, **named: object) -> None:
        if not _before:
            step(*args, **named)
        raise Killed

    return run


def die_at(monkeypatch: pytest.MonkeyPatch, point: str, *, before: bool) -> None:
    owner, _, name = point.rpartition(".")
    target = {"archiving": archiving, "archiving.archive": archive, "archiving.store": store}[owner]
    with monkeypatch.context() as patch:
        patch.setattr(target, name, dying(before, getattr(target, name)))
        with pytest.raises(Killed):
            expire_all()


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize(
    "point",
    [
        "archiving.archive.write",
        "archiving._commit_segment",
        "archiving._create_segment",
        "archiving.record_event",
        "archiving.store.evict",
        "archiving._let_go",
    ],
)
def test_a_death_at_any_point_of_archiving_loses_nothing(
    api: httpx.Client, intake: Intake, account: Account, monkeypatch: pytest.MonkeyPatch, point: str, before: bool
) -> None:
    for step in range(1, 4):
        save(api, "wf", step, headers=SOON)
    intake()
    die_at(monkeypatch, point, before=before)
    assert steps_of(replay(api, "wf")) == [1, 2, 3]
    expire_all(2 * 3600)
    assert resume(api, "wf").json()["latest_checkpoint"]["state"] == {"n": 3}
    assert ArchiveSegment.objects.filter(workflow__account=account).count() == 1
    types = list(Event.objects.filter(account_id=account.pk).values_list("type", flat=True))
    assert (types.count("workflow.archived"), types.count("workflow.expired")) == (1, 1)


def test_one_workflow_that_fails_does_not_hold_up_the_others(
    api: httpx.Client, intake: Intake, account: Account, sql: "psycopg.Connection[object]"
) -> None:
    save(api, "bad", 1, headers=SOON)
    save(api, "good", 1, headers=SOON)
    intake()
    bad = Workflow.objects.get(account=account, workflow_id="bad")
    sql.execute("UPDATE checkpoints_checkpoint SET body = 'rotten' WHERE workflow_id = %s", [bad.pk])
    expire_all()
    assert api.get("/workflows/good").json()["tier"] == "archive"
    assert ArchiveProblem.objects.get(workflow=bad).reason
    assert resume(api, "bad").json()["source"] == "hot"


def test_a_pinned_workflow_is_not_archived_until_it_is_unpinned(api: httpx.Client, intake: Intake) -> None:
    save(api, "wf", 1, headers=SOON)
    api.patch("/workflows/wf", json={"pinned": True})
    intake()
    expire_all()
    assert api.get("/workflows/wf").json()["tier"] == "live"
    api.patch("/workflows/wf", json={"pinned": False})
    intake()
    expire_all()
    assert api.get("/workflows/wf").json()["tier"] == "archive"


def test_what_redis_has_and_postgres_has_not_keeps_a_workflow_hot(api: httpx.Client, intake: Intake) -> None:
    save(api, "wf", 1, headers=SOON)
    intake()
    save(api, "wf", 2, headers=SOON)
    expire_all()
    assert resume(api, "wf").json()["source"] == "hot"
    intake()
    expire_all()
    assert steps_of(replay(api, "wf")) == [1, 2]


def test_an_erase_takes_the_objects_too(archived: httpx.Client, account: Account) -> None:
    key = ArchiveSegment.objects.get(workflow__account=account).key
    assert storages["archive"].exists(key)
    assert archived.delete("/workflows/wf").status_code == 204
    assert not storages["archive"].exists(key)
    assert resume(archived, "wf").status_code == 404
    assert save(archived, "wf", 1).status_code == 201
    assert steps_of(replay(archived, "wf")) == [1]
