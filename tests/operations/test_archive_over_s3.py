"""The archive in a real S3, over http and https: written, read back byte for byte, listed, deleted; and refused."""

import os
from io import StringIO
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.test import override_settings

from checkpoints import archive, erasing, segment_format
from checkpoints.archive import ArchiveDown
from checkpoints.ids import workflow_key
from checkpoints.models import ArchiveProblem, ArchiveSegment
from checkpoints.segment_format import Packed
from snapstate_project.common.circuit import FAILURES
from tests.checkpoints.steps import replay, resume, save_raw, steps_of
from tests.operations.s3 import archiving_to
from tests.operations.steps import expire_all

ODD = '{ "e":1E2, "o" : 1.0,  "big":9007199254740993, "l":[], "d":{}, "s":"é\\u0000" }'


@pytest.fixture
def archived(s3, api, intake):
    """A workflow of three steps that stands in the endpoint only."""
    for step in range(1, 4):
        assert save_raw(api, "wf", step, ODD, **{"X-Checkpoint-TTL": "60"}).status_code == 201
    intake()
    expire_all()
    intake()
    return api


def test_what_is_written_is_read_back_byte_for_byte_and_can_be_listed_and_deleted(s3):
    storage, body = storages["archive"], os.urandom(9 * 1_048_576)
    assert storage.save("archives/a/b/1-1-1.jsonl.zst", ContentFile(body)) == "archives/a/b/1-1-1.jsonl.zst"
    assert archive.read("archives/a/b/1-1-1.jsonl.zst") == body
    assert storage.listdir("archives/a/b") == ([], ["1-1-1.jsonl.zst"])
    archive.delete(["archives/a/b/1-1-1.jsonl.zst", "archives/a/b/never-was"])
    assert storage.listdir("archives/a/b") == ([], [])


def test_every_read_of_an_archived_workflow_is_answered_from_there(s3, archived, account):
    segment = ArchiveSegment.objects.get(workflow__account=account)
    assert segment.key in {str(path.relative_to(s3.folder / "checkpoint-archives")) for path in s3.objects()}
    assert steps_of(replay(archived, "wf")) == [1, 2, 3]
    assert f'"state":{ODD}' in archived.get("/checkpoints/cp_wf_002").text
    resumed = resume(archived, "wf")
    assert (resumed.json()["source"], f'"state":{ODD}' in resumed.text) == ("archive", True)


@pytest.mark.parametrize("compression", ["zstd", "gzip"])
def test_no_object_says_a_content_encoding(s3, api, intake, account, compression):
    save_raw(api, "wf", 1, ODD, **{"X-Checkpoint-TTL": "60"})
    intake()
    with override_settings(ARCHIVE_COMPRESSION=compression):
        expire_all()
    key = ArchiveSegment.objects.get(workflow__account=account).key
    storage: Any = storages["archive"]
    head = storage.bucket.Object(key).get()
    assert (head.get("ContentEncoding"), head["ContentType"]) == (None, "application/octet-stream")
    assert resume(api, "wf").json()["source"] == "archive"


def test_an_erased_workflow_leaves_no_object(s3, archived, account):
    mine = f"archives/{account.pk.hex}/"
    assert [path for path in s3.objects() if mine in str(path)]
    assert archived.delete("/workflows/wf").status_code == 204
    assert not [path for path in s3.objects() if mine in str(path)]
    assert resume(archived, "wf").status_code == 404


def test_the_endpoint_is_looked_at(s3):
    archive.look()


@pytest.mark.parametrize(
    "found",
    [None, b"", b"rubbish", segment_format.pack_segment([], "zstd").body],
    ids=["missing", "empty", "rubbish", "another segment"],
)
def test_an_object_that_is_missing_or_wrong_is_a_503_of_its_workflow_alone(s3, archived, account, found, caplog):
    key = ArchiveSegment.objects.get(workflow__account=account).key
    archive.delete([key])
    if found is not None:
        storages["archive"].save(key, ContentFile(found))
    for _ in range(FAILURES + 1):
        refused = replay(archived, "wf")
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert "cannot be read" in refused.json()["error"]["message"]
    assert key in caplog.text
    assert not archive.threads.circuit.is_open


@pytest.mark.parametrize(
    "wrong",
    [{"R2_SECRET_ACCESS_KEY": "wrong"}, {"R2_ACCESS_KEY_ID": "nobody"}, {"R2_BUCKET_NAME": "no-such-bucket"}],
    ids=str,
)
def test_what_is_wrong_in_the_settings_loses_nothing(s3, api, intake, account, monkeypatch, wrong):
    save_raw(api, "wf", 1, ODD, **{"X-Checkpoint-TTL": "60"})
    intake()
    with archiving_to(monkeypatch, **{**s3.environment, **wrong}):
        with pytest.raises(ArchiveDown):
            archive.look()
        expire_all()
        assert ArchiveProblem.objects.filter(workflow__account=account).exists()
        assert resume(api, "wf").json()["source"] == "hot"


@pytest.mark.parametrize("endpoint", ["https"], indirect=True)
def test_a_certificate_that_nobody_vouches_for_is_not_trusted(endpoint, monkeypatch):
    with archiving_to(monkeypatch, **{**endpoint.environment, "R2_CA_BUNDLE": ""}), pytest.raises(ArchiveDown) as down:
        archive.look()
    assert "SSL" in repr(down.value.__cause__)


def test_an_upload_that_arrives_changed_is_not_believed(s3):
    packed = segment_format.pack_segment([], "zstd")
    with pytest.raises(ArchiveDown):
        archive.write("archives/a/b/1-2-2.jsonl.zst", Packed(packed.body, b"another digest", []))


def verified():
    told = StringIO()
    try:
        call_command("verify_archive", newest=1, stdout=told, stderr=told)
    except CommandError as error:
        told.write(str(error))
    return told.getvalue()


def test_what_is_missing_or_changed_is_found_by_the_command_for_it(s3, archived, account):
    assert verified() == "1 segments, all as they were written.\n"
    key = ArchiveSegment.objects.get(workflow__account=account).key
    storages["archive"].save(key, ContentFile(b"something else"))
    assert f"{key}: is not what was written" in verified()
    archive.delete([key])
    assert f"{key}: is missing" in verified()


def test_an_erase_that_is_half_done_is_no_fault_of_the_archive(s3, archived, account):
    key = ArchiveSegment.objects.get(workflow__account=account).key
    erasing._promise(workflow_key(account.pk, "wf"), None)
    archive.delete([key])
    assert key not in verified()
    erasing.finish_erasures()


def test_an_archive_that_refuses_is_told_once_and_not_as_missing_segments(s3, archived, monkeypatch):
    with archiving_to(monkeypatch, **{**s3.environment, "R2_SECRET_ACCESS_KEY": "wrong"}):
        told = verified()
    assert (told.startswith("The archive does not answer: "), "SignatureDoesNotMatch" in told) == (True, True)


@pytest.mark.parametrize("count", ["0", "-1", "some"])
def test_a_count_that_is_none_is_refused(count):
    with pytest.raises(CommandError, match="must be a whole number from 1"):
        call_command("verify_archive", "--newest", count)
