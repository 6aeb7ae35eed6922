"""Archiving, retention, erasing and reading at the same time: each in the middle of another."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest
import redis as redis_py
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import connection
from django.utils import timezone

from accounts import services
from accounts.models import Account
from checkpoints import archive, archiving, asking, erasing, retention, rows
from checkpoints import services as saving
from checkpoints.ids import workflow_key
from checkpoints.models import ArchiveIntent, ArchiveSegment, Erasure, Workflow
from checkpoints.segment_format import Packed
from snapstate_project.events import intake as taking
from snapstate_project.events.models import Event
from tests.checkpoints.steps import replay, resume, save, steps_of
from tests.checkpoints.test_archiving import SOON, claim_of, expire_all

Intake = Callable[[], None]


def save_steps(api: httpx.Client, intake: Intake, first: int, last: int, **more: object) -> str:
    etag = ""
    for step in range(first, last + 1):
        etag = save(api, "wf", step, {"h": list(range(step))}, headers=SOON, **more).headers["ETag"]
    intake()
    return etag


def archive_is_down(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(_key: str) -> bytes:
        raise archive.ArchiveDown

    archive.cache.segments.clear()
    monkeypatch.setattr(archive, "read", down)


def run_and_close(act: Callable[[], object]) -> None:
    act()
    connection.close()


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """`act` happens between what the next asker learns and what it does with it."""
    real = asking.learn

    def learn(*arguments: object) -> object:
        found = real(*arguments)  # type: ignore[arg-type]
        monkeypatch.setattr(asking, "learn", real)
        worker = threading.Thread(target=run_and_close, args=(act,))
        worker.start()
        worker.join()
        return found

    monkeypatch.setattr(asking, "learn", learn)


def test_rows_written_after_retention_decode(
    api: httpx.Client, intake: Intake, redis: redis_py.Redis, account: Account
) -> None:
    save_steps(api, intake, 1, 10)
    services.update_account(account, keep_last=5)
    retention.prune(email=account.email)
    save_steps(api, intake, 11, 11)
    rows.cache.chains.clear()
    save_steps(api, intake, 12, 12)
    redis.flushall()
    states = [checkpoint["state"]["h"] for checkpoint in replay(api, "wf").json()["checkpoints"]]
    assert states == [list(range(step)) for step in range(6, 13)]


def test_a_stale_intent_does_not_take_the_object_of_a_later_try(
    api: httpx.Client, intake: Intake, account: Account
) -> None:
    save_steps(api, intake, 1, 3)
    died = claim_of(account)
    ArchiveIntent.objects.filter(pk=died.intent.pk).update(created_at=timezone.now() - timedelta(hours=2))
    Workflow.objects.filter(account=account).update(archive_at=timezone.now())
    second = claim_of(account)
    storages["archive"].save(second.intent.key, ContentFile(b"on its way"))
    archiving.drop_stale_intents(timezone.now())
    assert second.intent.key == died.intent.key
    assert storages["archive"].exists(second.intent.key)


def test_of_two_who_claim_a_workflow_the_later_leaves_the_other_s_object(
    api: httpx.Client, intake: Intake, account: Account
) -> None:
    save_steps(api, intake, 1, 3)
    slow = claim_of(account)
    Workflow.objects.filter(account=account).update(archive_at=timezone.now())
    assert archiving.archive_claim(claim_of(account), archiving.Pass())
    save_steps(api, intake, 4, 4)
    archiving.archive_claim(slow, archiving.Pass())
    expire_all(7200)
    assert steps_of(replay(api, "wf")) == [1, 2, 3, 4]


def test_who_was_held_up_until_its_object_was_taken_for_stale_keeps_no_segment_of_it(
    api: httpx.Client, intake: Intake, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_steps(api, intake, 1, 3)
    real, claim = archive.write, claim_of(account)

    def held_up(key: str, packed: Packed) -> None:
        real(key, packed)
        archiving.drop_stale_intents(timezone.now() + timedelta(hours=2))

    with monkeypatch.context() as patch:
        patch.setattr(archive, "write", held_up)
        archiving.archive_claim(claim, archiving.Pass())
    expire_all(7200)
    assert steps_of(replay(api, "wf")) == [1, 2, 3]
    assert api.get("/workflows/wf").json()["tier"] == "archive"


def test_retention_leaves_a_workflow_that_was_resumed(api: httpx.Client, intake: Intake, account: Account) -> None:
    save_steps(api, intake, 1, 4)
    expire_all()
    services.update_account(account, archive_days=30)
    assert resume(api, "wf").status_code == 200
    retention.prune(now=datetime.now(UTC) + timedelta(days=31), email=account.email)
    assert save(api, "wf", 5).status_code == 201
    erasing.finish_erasures()
    intake()
    assert steps_of(replay(api, "wf")) == [1, 2, 3, 4, 5]


def test_retention_while_an_object_is_written(api: httpx.Client, intake: Intake, account: Account) -> None:
    save_steps(api, intake, 1, 10)
    claim = claim_of(account)
    services.update_account(account, keep_last=5)
    retention.prune(email=account.email)
    archiving.archive_claim(claim, archiving.Pass())
    expire_all(7200)
    assert steps_of(replay(api, "wf")) == [6, 7, 8, 9, 10]
    assert api.get("/workflows/wf").json()["total_checkpoints"] == 5


def test_retention_between_a_commit_and_its_settling(api: httpx.Client, account: Account) -> None:
    for step in range(1, 11):
        save(api, "wf", step)
    services.update_account(account, keep_last=5)
    intake = taking.Intake()
    intake._claim_shards()
    entries, _ = intake._read()
    batch = intake.batch_type(entries)
    batch.fetch()
    intake._commit(batch, {entry.shard for entry in entries})
    retention.prune(email=account.email)
    batch.settle()
    intake.release()
    assert (steps_of(replay(api, "wf")), resume(api, "wf").json()["total_checkpoints"]) == ([6, 7, 8, 9, 10], 5)


def test_totals_count_what_a_segment_still_shows(api: httpx.Client, intake: Intake, account: Account) -> None:
    for step in (1, 2, 3, 4, 10):
        save(api, "wf", step, headers=SOON)
    intake()
    archiving.archive_expiring(now=datetime.now(UTC) + timedelta(seconds=40))
    save_steps(api, intake, 5, 9)
    services.update_account(account, keep_last=3)
    retention.prune(email=account.email)
    shown = steps_of(replay(api, "wf"))
    assert len(shown) == Workflow.objects.get(account=account).total_checkpoints


@pytest.mark.parametrize("tier", ["warm", "archive"])
def test_a_label_finds_no_superseded_revision(
    api: httpx.Client, intake: Intake, redis: redis_py.Redis, tier: str
) -> None:
    etag = save_steps(api, intake, 1, 25, label="a")
    if tier == "archive":
        expire_all()
    assert save(api, "wf", 25, {"n": "new"}, label="b", headers={"If-Match": etag}).status_code == 201
    if tier == "archive":
        intake()
        redis.flushall()
    assert steps_of(replay(api, "wf", label="b")) == [25]
    assert steps_of(replay(api, "wf", label="a")) == list(range(1, 25))


def test_a_resume_that_fails_is_not_metered(
    api: httpx.Client, intake: Intake, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_steps(api, intake, 1, 3)
    expire_all()
    assert save(api, "wf", 3, {"x": 1}).status_code == 409
    with monkeypatch.context() as patch:
        archive_is_down(patch)
        assert resume(api, "wf").status_code == 503
    assert resume(api, "wf").json()["source"] == "archive"
    intake()
    assert Event.objects.filter(account_id=account.pk, type="workflow.resumed").count() == 1


def test_what_needs_no_state_needs_no_archive(
    api: httpx.Client, intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_steps(api, intake, 1, 3, label="l", metadata={"k": 1})
    expire_all()
    archive_is_down(monkeypatch)
    patched = api.patch("/workflows/wf", json={"keep_last": 100})
    assert (patched.status_code, patched.json()["label"], patched.json()["metadata"]) == (200, "l", {"k": 1})
    etag = save(api, "wf", 4).headers["ETag"]
    hot = api.get("/checkpoints/cp_wf_004")
    assert (hot.status_code, hot.json()["diff_from_previous"]) == (200, None)
    assert api.get("/checkpoints/cp_wf_004", headers={"If-None-Match": etag}).status_code == 304


def test_a_read_that_races_the_eviction_does_not_bring_it_back(
    api: httpx.Client, intake: Intake, redis: redis_py.Redis, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_steps(api, intake, 1, 3)
    redis.flushall()
    meanwhile(monkeypatch, expire_all)
    assert resume(api, "wf").status_code == 200
    expire_all(10 * 3600)
    assert not list(redis.scan_iter(f"wf:*{account.pk.hex}*"))
    assert api.get("/workflows/wf").json()["tier"] == "archive"


def test_a_save_that_races_an_erase_begins_anew(
    api: httpx.Client, intake: Intake, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_steps(api, intake, 1, 3)
    expire_all()
    meanwhile(monkeypatch, lambda: api.delete("/workflows/wf"))
    assert save(api, "wf", 4).status_code == 201
    intake()
    assert steps_of(replay(api, "wf")) == [4]


def test_a_damaged_object_stops_no_save(api: httpx.Client, intake: Intake, account: Account) -> None:
    save_steps(api, intake, 1, 3)
    expire_all()
    key = ArchiveSegment.objects.get(workflow__account=account).key
    storages["archive"].save(key, ContentFile(archive.read(key)[:-8] + b"12345678"))
    archive.cache.segments.clear()
    saving.recent.forget(workflow_key(account.pk, "wf"))  # as in a process that has not saved it
    saved = save(api, "wf", 4)
    assert (saved.status_code, saved.json()["diff_from_previous"]) == (201, None)
    assert replay(api, "wf").status_code == 503


def test_an_erase_promised_in_an_outage_waits_for_no_others(
    api: httpx.Client, intake: Intake, account: Account
) -> None:
    save_steps(api, intake, 1, 1)
    done = dict.fromkeys(("hot_erased_at", "rows_erased_at", "objects_erased_at"), timezone.now())
    Erasure.objects.bulk_create(Erasure(account_id=account.pk, digest=b"x", generation=2, **done) for _ in range(1_000))
    erasing._promise(workflow_key(account.pk, "wf"), None)
    erasing.finish_erasures()
    assert resume(api, "wf").status_code == 404
    Erasure.objects.filter(account_id=account.pk).delete()


def test_looking_with_head_is_not_metered(api: httpx.Client, intake: Intake, account: Account) -> None:
    etag = save(api, "wf", 1).headers["ETag"]
    assert api.head("/workflows/wf/resume").headers["ETag"] == etag
    assert api.head("/workflows/wf/replay").status_code == 200
    intake()
    assert not Event.objects.filter(account_id=account.pk, type__in=["workflow.resumed", "workflow.replayed"]).exists()
