"""A tier that is down: every page is there still, and what cannot be done is said in a sentence; never a 500."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib import admin
from django.core import cache as caches
from django.test import Client, override_settings
from django.urls import reverse
from django_redis.cache import RedisCache

from accounts.models import Account
from checkpoints.models import Workflow
from snapstate_project.common import redis
from tests.dashboard.outage import NOWHERE

YES = {"confirmed": "yes", "reason": "because", "days": "3"}
NO_ARCHIVE = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": "/proc/nowhere"}}


@pytest.fixture
def redis_down(worked: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    caches.caches["default"]  # made, so that it is there to be replaced
    handler: Any = caches.caches
    monkeypatch.setitem(handler._connections.__dict__, "default", RedisCache("redis://127.0.0.1:1/0", {}))
    monkeypatch.setattr(redis, "client", lambda: NOWHERE)
    with override_settings(REDIS_URL="redis://127.0.0.1:1/0"):
        yield


@pytest.fixture
def workflow(worked: None) -> Workflow:
    return Workflow.objects.filter(workflow_id="report").latest("id")


def pages_of_rows() -> Iterator[str]:
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield reverse(f"{name}_changelist")
        if row := model._default_manager.order_by("-pk").first():
            yield reverse(f"{name}_change", args=[row.pk])


def test_without_redis_every_page_is_there(admin_client: Client, workflow: Workflow, redis_down: None):
    base = f"/admin/checkpoints/workflow/{workflow.pk}"
    own = ("/admin/", "/admin/system/", "/admin/search/?s=test", f"{base}/diff/", f"{base}/state/2/", f"{base}/change/")
    answers = {path: admin_client.get(path).status_code for path in [*own, *pages_of_rows()]}
    assert set(answers.values()) == {200}, answers


def test_without_redis_no_move_is_claimed_that_was_not_made(admin_client: Client, workflow: Workflow, redis_down: None):
    base = f"/admin/checkpoints/workflow/{workflow.pk}"
    archived = admin_client.post(f"{base}/archive_now/", YES, follow=True).content.decode()
    pinned = admin_client.post(f"{base}/pin/", YES, follow=True).content.decode()
    workflow.refresh_from_db()
    assert ("(0 of 1 done)" in archived, workflow.is_cold) == (True, False)
    assert ("(0 of 1 done)" in pinned) is not workflow.pinned


@pytest.mark.parametrize("action", ["suspend", "schedule_deletion"])
def test_without_redis_an_account_stays_as_it_is(admin_client: Client, account: Account, redis_down: None, action: str):
    page = admin_client.post(f"/admin/accounts/account/{account.pk}/{action}/", YES, follow=True)
    assert "Redis cannot be reached" in page.content.decode()
    account.refresh_from_db()
    assert (account.status, account.deletions.count()) == ("active", 0)


def test_without_the_archive_every_page_is_there(admin_client: Client, workflow: Workflow):
    base = f"/admin/checkpoints/workflow/{workflow.pk}"
    admin_client.post(f"{base}/archive_now/", YES)
    with override_settings(STORAGES={**settings.STORAGES, "archive": NO_ARCHIVE}):
        shown = [admin_client.get(f"{base}/{page}") for page in ("change/", "diff/", "state/2/")]
        woken = admin_client.post(f"{base}/make_hot/", YES, follow=True)
        erased = admin_client.post(f"{base}/erase/", {**YES, "typed": "report"}, follow=True)
    assert [page.status_code for page in (*shown, woken, erased)] == [200] * 5
    assert "(0 of 1 done)" in woken.content.decode()
    assert Workflow.objects.get(pk=workflow.pk).head_step is None
