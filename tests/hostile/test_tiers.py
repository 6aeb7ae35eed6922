"""Hostile inputs, tiers: expiry, erasing, the archive and two accounts, whatever happens in between."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

import httpx
import pytest
import redis as redis_py
from django.core.files.storage import storages

from accounts.models import Account
from checkpoints import archiving
from checkpoints.models import ArchiveIntent, ArchiveSegment
from snapstate_project.common.r2 import R2Storage
from tests.hostile.conftest import expire_all
from tests.hostile.reading import body, place_of, save, saved, send, states, workflow
from tests.hostile.test_order import head_of, n, steps

Move = Callable[[], None]


def seconds_left(api: httpx.Client, workflow_id: str) -> float:
    shown = head_of(api, workflow_id)
    end, start = (datetime.fromisoformat(shown[name]) for name in ("expires_at", "last_activity_at"))
    return (end - start).total_seconds()


@pytest.mark.parametrize(("ttls", "left"), [(("60", "3600"), 3600), (("3600", ""), 3600), (("3600", "60"), 60)])
def test_a_workflow_has_one_expiry_and_keeps_the_ttl_last_asked_for(
    api: httpx.Client, wf: str, intake: Move, redis: redis_py.Redis, ttls: tuple[str, ...], left: int
) -> None:
    for step, ttl in enumerate(ttls):
        kind = {"Content-Type": "application/json", **({"X-Checkpoint-TTL": ttl} if ttl else {})}
        saved(api.post("/checkpoints", content=body(wf, step, n(step)), headers=kind))
    assert seconds_left(api, wf) == left
    intake()
    redis.flushall()
    assert seconds_left(api, wf) == left
    archiving.archive_expiring(now=datetime.fromisoformat(head_of(api, wf)["last_activity_at"]) + timedelta(seconds=29))
    assert api.get(workflow(wf)).json()["tier"] == "live"
    expire_all(7200)
    assert (api.get(workflow(wf)).json()["tier"], steps(api, wf)) == ("archive", [0, 1])


@pytest.mark.parametrize("ttl", ["3600abc", "0", "-5", "1e9", "1.5", "31536001", "9" * 400, "+60", "60,60", "0x3C"])
def test_anything_else_is_no_ttl(api: httpx.Client, wf: str, ttl: str) -> None:
    assert place_of(send(api, body(wf, 1, "{}"), X_Checkpoint_TTL=ttl)) == "X-Checkpoint-TTL"


def test_nothing_expires_while_the_background_is_stopped(
    api: httpx.Client, account: Account, wf: str, intake: Move, redis: redis_py.Redis
) -> None:
    for step in range(3):
        saved(send(api, body(wf, step, n(step)), X_Checkpoint_TTL="1"))
    assert {redis.ttl(key) for key in redis.scan_iter(f"wf:*{account.pk.hex}*")} == {-1}
    intake()
    archiving.archive_expiring(now=datetime.fromisoformat(head_of(api, wf)["expires_at"]) + timedelta(hours=48))
    assert steps(api, wf) == [0, 1, 2]
    expire_all(48 * 3600)
    assert head_of(api, wf)["source"] == "archive"
    assert states(api, wf, 2) == {n(2)}


@pytest.mark.parametrize("taken", [(True, True), (True, False), (False, True), (False, False)])
def test_only_what_came_after_an_erase_exists(
    api: httpx.Client, wf: str, intake: Move, redis: redis_py.Redis, taken: tuple[bool, bool]
) -> None:
    for step in (1, 2):
        saved(save(api, wf, step, n(step)))
    if taken[0]:
        intake()
    saved(api.delete(workflow(wf)), 204)
    if taken[1]:
        intake()
    saved(save(api, wf, 1, n(100)))
    intake()
    redis.flushall()
    assert (steps(api, wf), states(api, wf, 1)) == ([1], {n(100)})


def test_an_erase_while_archiving_leaves_no_object(api: httpx.Client, account: Account, wf: str, intake: Move) -> None:
    saved(save(api, wf, 1, n(1)))
    intake()
    done = archiving.Pass(datetime.fromisoformat(head_of(api, wf)["expires_at"]))
    claims = []
    while claim := archiving.claim_due(done):
        claims.append(claim)
    saved(api.delete(workflow(wf)), 204)
    for claim in claims:
        archiving.archive_claim(claim, done)
    mine = [claim.intent.key for claim in claims if claim.workflow.workflow_id == wf]
    assert len(mine) == 1
    assert not storages["archive"].exists(mine[0])
    assert not ArchiveSegment.objects.filter(key__in=mine).exists()


def test_resuming_from_the_archive_while_erasing_ends_in_404(api: httpx.Client, wf: str, intake: Move) -> None:
    saved(save(api, wf, 1, n(1)))
    intake()
    expire_all()
    seen: set[int] = set()
    resuming = threading.Thread(
        target=lambda: seen.update(api.get(workflow(wf, "resume")).status_code for _ in range(30))
    )
    resuming.start()
    saved(api.delete(workflow(wf)), 204)
    resuming.join()
    assert seen <= {200, 404}
    assert (api.get(workflow(wf, "resume")).status_code, steps(api, wf)) == (404, [])
    assert not ArchiveIntent.objects.filter(workflow__workflow_id=wf).exists()


def test_a_save_while_its_workflow_is_archived_is_neither_lost_nor_there_twice(
    api: httpx.Client, account: Account, wf: str, intake: Move
) -> None:
    saved(save(api, wf, 1, n(1)))
    intake()
    done = archiving.Pass(datetime.fromisoformat(head_of(api, wf)["expires_at"]))
    claims = list(iter(lambda: archiving.claim_due(done), None))
    saved(save(api, wf, 2, n(2)))
    for claim in claims + claims:
        archiving.archive_claim(claim, done)
    intake()
    for _ in range(2):
        expire_all()
    assert (steps(api, wf), states(api, wf, 2)) == ([1, 2], {n(2)})
    assert head_of(api, wf)["total_checkpoints"] == 2


def test_an_s3_over_https_is_asked_for_no_checksum_it_does_not_know() -> None:
    options = {"endpoint_url": "https://s3.example.com", "bucket_name": "b", "access_key": "a", "secret_key": "s"}
    asked = R2Storage(**options).client_config
    assert (asked.request_checksum_calculation, asked.response_checksum_validation) == ("when_required",) * 2
    assert asked.s3 == {"addressing_style": "path"}


def test_two_accounts_with_the_same_ids_never_mix_in_any_tier(
    api: httpx.Client, stranger_api: httpx.Client, wf: str, settle: Move, intake: Move
) -> None:
    for whose, number in ((api, 1), (stranger_api, 2)):
        saved(save(whose, wf, 1, n(number)))
    settle()
    assert [states(whose, wf, 1) for whose in (api, stranger_api)] == [{n(1)}, {n(2)}]
    saved(api.delete(workflow(wf)), 204)
    intake()
    assert (api.get(workflow(wf)).status_code, states(stranger_api, wf, 1)) == (404, {n(2)})
    keys = ArchiveSegment.objects.filter(workflow__workflow_id=wf).values_list("key", flat=True)
    assert all(storages["archive"].exists(key) for key in keys)
