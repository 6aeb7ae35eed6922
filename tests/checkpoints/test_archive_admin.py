"""The archive's pages: what stands there, what could not be moved, and trying again."""

from collections.abc import Callable

import httpx
import psycopg
import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Account
from checkpoints.models import ArchiveProblem, ArchiveSegment, Workflow
from tests.checkpoints.steps import save
from tests.checkpoints.test_archiving import SOON, expire_all

Intake = Callable[[], None]


@pytest.fixture
def problem(api: httpx.Client, intake: Intake, account: Account, sql: "psycopg.Connection[object]") -> ArchiveProblem:
    save(api, "rotten", 1, headers=SOON)
    intake()
    row = Workflow.objects.get(account=account)
    sql.execute("UPDATE checkpoints_checkpoint SET body = 'rotten' WHERE workflow_id = %s", [row.pk])
    expire_all()
    return ArchiveProblem.objects.get(workflow=row)


def test_segments_are_listed_and_shown(
    api: httpx.Client, intake: Intake, admin_client: Client, account: Account
) -> None:
    save(api, "archived-one", 1, headers=SOON)
    intake()
    expire_all()
    segment = ArchiveSegment.objects.get(workflow__account=account)
    listed = admin_client.get(reverse("admin:checkpoints_archivesegment_changelist"), {"q": "archived-one"})
    assert b"archived-one" in listed.content
    page = admin_client.get(reverse("admin:checkpoints_archivesegment_change", args=[segment.pk]))
    assert segment.key.encode() in page.content


def test_a_problem_is_shown_with_its_reason_and_tried_again(admin_client: Client, problem: ArchiveProblem) -> None:
    page = admin_client.get(reverse("admin:checkpoints_archiveproblem_change", args=[problem.pk]))
    assert b"ZstdError" in page.content
    before = problem.workflow.archive_at
    admin_client.post(reverse("admin:checkpoints_archiveproblem_retry", args=[problem.pk]), {"_form_submitted": "True"})
    problem.workflow.refresh_from_db()
    assert problem.workflow.archive_at != before
    listed = admin_client.get(reverse("admin:checkpoints_archiveproblem_changelist"))
    assert b"rotten" in listed.content
