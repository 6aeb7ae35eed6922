"""Keeping less: the newest N checkpoints, D days in the archive; never the wrong ones."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest
import redis as redis_py
from django.core.management import CommandError, call_command

from accounts import services
from accounts.models import Account
from checkpoints import erasing, retention
from checkpoints.models import ArchiveSegment, Checkpoint, Workflow
from checkpoints.retention import Held, plan
from tests.checkpoints.steps import replay, resume, save, steps_of
from tests.checkpoints.test_archiving import SOON, expire_all

Intake = Callable[[], None]


def save_steps(api: httpx.Client, intake: Intake, first: int, last: int) -> None:
    for step in range(first, last + 1):
        save(api, "wf", step, {"h": list(range(step))}, headers=SOON)
    intake()


def test_only_the_newest_are_kept_and_each_of_them_decodes(
    api: httpx.Client, intake: Intake, redis: redis_py.Redis
) -> None:
    save_steps(api, intake, 1, 40)
    api.patch("/workflows/wf", json={"keep_last": 7})
    intake()
    retention.prune()
    assert steps_of(replay(api, "wf")) == list(range(34, 41))
    redis.flushall()
    states = [checkpoint["state"] for checkpoint in replay(api, "wf").json()["checkpoints"]]
    assert states == [{"h": list(range(step))} for step in range(34, 41)]
    summary = api.get("/workflows/wf").json()
    assert (summary["total_checkpoints"], resume(api, "wf").json()["total_checkpoints"]) == (7, 7)


def test_saving_goes_on_after_pruning(api: httpx.Client, intake: Intake) -> None:
    save_steps(api, intake, 1, 30)
    api.patch("/workflows/wf", json={"keep_last": 3})
    intake()
    retention.prune()
    save_steps(api, intake, 31, 33)
    assert api.get("/workflows/wf").json()["total_checkpoints"] == 6
    retention.prune()
    assert steps_of(replay(api, "wf")) == [31, 32, 33]


def test_an_account_s_wish_holds_for_workflows_that_say_nothing(
    api: httpx.Client, intake: Intake, account: Account
) -> None:
    save_steps(api, intake, 1, 5)
    save(api, "pinned", 1)
    save(api, "pinned", 2)
    api.patch("/workflows/pinned", json={"pinned": True})
    intake()
    services.update_account(account, keep_last=1)
    retention.prune(email=account.email)
    assert steps_of(replay(api, "wf")) == [5]
    assert steps_of(replay(api, "pinned")) == [1, 2]


def test_of_the_archive_only_whole_segments_go(api: httpx.Client, intake: Intake, account: Account) -> None:
    save_steps(api, intake, 1, 4)
    expire_all()
    save_steps(api, intake, 5, 8)
    expire_all()
    api.patch("/workflows/wf", json={"keep_last": 2})
    intake()
    retention.prune()
    assert steps_of(replay(api, "wf")) == [5, 6, 7, 8]
    assert api.get("/workflows/wf").json()["total_checkpoints"] == 4
    assert ArchiveSegment.objects.filter(workflow__account=account).count() == 1


def test_a_workflow_whose_days_in_the_archive_are_over_is_erased(
    api: httpx.Client, intake: Intake, account: Account
) -> None:
    save_steps(api, intake, 1, 4)
    expire_all()
    services.update_account(account, archive_days=30)
    retention.prune(now=datetime.now(UTC) + timedelta(days=29))
    assert steps_of(replay(api, "wf")) == [1, 2, 3, 4]
    retention.prune(now=datetime.now(UTC) + timedelta(days=31))
    assert resume(api, "wf").status_code == 404
    erasing.finish_erasures()
    assert not ArchiveSegment.objects.filter(workflow__account=account).exists()


def test_a_dry_run_says_what_would_go_and_takes_nothing(
    api: httpx.Client, intake: Intake, account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    save_steps(api, intake, 1, 5)
    services.update_account(account, keep_last=2)
    call_command("prune_history", dry_run=True, account=account.email)
    assert "3 checkpoints of 1 workflows would go" in capsys.readouterr().out
    assert steps_of(replay(api, "wf")) == [1, 2, 3, 4, 5]


def test_an_account_that_is_not_there_is_no_account_without_work() -> None:
    with pytest.raises(CommandError, match=r"There is no account nobody@example\.com"):
        call_command("prune_history", account="nobody@example.com")


def test_a_workflow_with_a_damaged_row_holds_back_no_other(
    api: httpx.Client, intake: Intake, account: Account, capsys: pytest.CaptureFixture[str]
) -> None:
    for step in range(1, 6):
        save(api, "damaged", step)
    save_steps(api, intake, 1, 5)
    Checkpoint.objects.filter(workflow__account=account, workflow__workflow_id="damaged").update(body=b"no frame")
    services.update_account(account, keep_last=2)
    with pytest.raises(CommandError, match="1 workflows could not be read"):
        call_command("prune_history", account=account.email)
    assert "3 checkpoints of 1 workflows deleted" in capsys.readouterr().out
    assert (steps_of(replay(api, "wf")), api.get("/workflows/damaged").json()["total_checkpoints"]) == ([4, 5], 5)


def test_nothing_goes_while_redis_is_ahead(api: httpx.Client, intake: Intake, account: Account) -> None:
    save_steps(api, intake, 1, 5)
    services.update_account(account, keep_last=2)
    save(api, "wf", 6)
    assert retention.prune(email=account.email).skipped == 1
    assert Workflow.objects.get(account=account).total_checkpoints == 5
    assert steps_of(replay(api, "wf")) == [1, 2, 3, 4, 5, 6]


def test_the_head_never_goes_alone() -> None:
    held = [Held(9, 10, 1, 1), Held(1, 20, 1, 2), Held(2, 30, 1, None)]
    found = plan(held, keep=None, head=10, too_old={1, 2})
    assert (found.segments, found.total) == ([2], 2)
