"""Erasing: nothing of what was there can be read again, and the id begins anew."""

import json
from collections.abc import Callable
from io import StringIO

import httpx
import pytest
import redis as redis_py
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import CommandError, call_command

from accounts.models import Account
from checkpoints import erasing
from checkpoints.ids import workflow_key
from checkpoints.models import ArchiveSegment, Checkpoint, Erasure, Workflow
from tests.checkpoints.steps import replay, resume, save, steps_of
from tests.checkpoints.test_archiving import SOON, expire_all

Intake = Callable[[], None]


def test_an_erased_workflow_answers_404_in_every_read(api: httpx.Client) -> None:
    save(api, "wf", 1)
    assert api.delete("/workflows/wf").status_code == 204
    for path in ("/workflows/wf", "/workflows/wf/resume", "/workflows/wf/diff", "/checkpoints/cp_wf_001"):
        assert api.get(path).status_code == 404
    assert steps_of(replay(api, "wf")) == []
    assert api.delete("/workflows/wf").status_code == 404


@pytest.mark.parametrize("taken", [(True, True), (True, False), (False, True), (False, False)])
def test_only_what_came_after_the_erase_exists(api: httpx.Client, intake: Intake, taken: tuple[bool, bool]) -> None:
    save(api, "wf", 1)
    save(api, "wf", 2)
    if taken[0]:
        intake()
    api.delete("/workflows/wf")
    if taken[1]:
        intake()
    assert save(api, "wf", 1, {"new": 1}).status_code == 201
    intake()
    assert steps_of(replay(api, "wf")) == [1]
    assert resume(api, "wf").json()["latest_checkpoint"]["state"] == {"new": 1}


def test_no_row_and_no_text_of_it_remains(api: httpx.Client, intake: Intake, redis: redis_py.Redis) -> None:
    save(api, "secret-name", 1, label="secret-label", metadata={"secret": 1})
    intake()
    api.delete("/workflows/secret-name")
    assert not Workflow.objects.filter(workflow_id="secret-name").exists()
    assert not Checkpoint.objects.filter(label="secret-label").exists()
    intake()
    redis.flushall()
    assert resume(api, "secret-name").status_code == 404


def test_a_sequence_never_begins_again(api: httpx.Client, intake: Intake) -> None:
    first = save(api, "wf", 1).headers["ETag"].strip('"').split("-")
    intake()
    api.delete("/workflows/wf")
    second = save(api, "wf", 1).headers["ETag"].strip('"').split("-")
    assert int(second[0]) == int(first[0]) + 1
    assert int(second[1]) > int(first[1])


def test_a_file_that_is_none_of_ours_stops_no_erase(api: httpx.Client, intake: Intake, account: Account) -> None:
    save(api, "wf", 1, headers=SOON)
    intake()
    expire_all()
    key = ArchiveSegment.objects.get(workflow__account=account).key
    storages["archive"].save(key.rpartition("/")[0] + "/.DS_Store", ContentFile(b"left by a file manager"))
    assert api.delete("/workflows/wf").status_code == 204
    assert not storages["archive"].exists(key)


def test_one_that_cannot_be_finished_holds_back_no_other(api: httpx.Client, intake: Intake, account: Account) -> None:
    save(api, "wf", 1)
    intake()
    broken = Erasure.objects.create(account_id=account.pk, digest=b"of no workflow", generation=2)
    erasing._promise(workflow_key(account.pk, "wf"), None)
    with pytest.raises(Workflow.DoesNotExist):
        erasing.finish_erasures()
    assert resume(api, "wf").status_code == 404
    assert not Erasure.objects.filter(account_id=account.pk, objects_erased_at=None).exclude(pk=broken.pk).exists()
    broken.delete()


def test_what_a_damaged_log_tells_is_erased_again_and_the_rest_is_named(
    api: httpx.Client, intake: Intake, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(api, "wf", 1)
    intake()
    digest = workflow_key(account.pk, "wf").digest.hex()
    line = json.dumps({"account": str(account.pk), "digest": digest, "generation": 2, "event": "workflow_erased"})
    wrapped = json.dumps({"log": line, "stream": "stderr"})
    monkeypatch.setattr("sys.stdin", [line[:-1], wrapped, f"web-1 | {line} (end)\n"])
    with pytest.raises(CommandError, match="2 lines tell of an erasure and cannot be read, the first is 1"):
        call_command("erase_again", stdout=StringIO())
    assert resume(api, "wf").status_code == 404


def test_a_stranger_cannot_erase(api: httpx.Client, stranger_api: httpx.Client) -> None:
    save(api, "wf", 1)
    assert stranger_api.delete("/workflows/wf").status_code == 404
    assert resume(api, "wf").status_code == 200
