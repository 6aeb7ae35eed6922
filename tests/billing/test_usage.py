"""`GET /usage` over HTTP, and the sums of the Admin API."""

from datetime import UTC, date, datetime
from importlib import import_module

import pytest
from django.utils import timezone

from billing.models import UsageRecord
from billing.periods import month_of
from billing.usage import usage_of, usage_this_month

MARCH = datetime(2026, 3, 31, 23, 59, tzinfo=UTC)


def use(account, month=None, **units):
    month = month or month_of(timezone.now())[0].date()
    UsageRecord.objects.create(account=account, month=month, **units)


def test_an_account_without_use_has_all_its_free_units(api):
    answer = api.get("/usage")
    assert answer.status_code == 200
    assert answer.json()["usage"] == {
        "checkpoint_writes": {"count": 0, "free_remaining": 10_000, "billable": 0},
        "storage_gb": {"current": 0.0, "free_remaining": 1.0, "billable": 0.0},
        "resume_calls": {"count": 0, "free_remaining": 5_000, "billable": 0},
        "replay_calls": {"count": 0, "free_remaining": 1_000, "billable": 0},
    }
    assert answer.json()["estimated_charge"] == "$0.00"


def test_use_beyond_the_free_units_is_billed(api, account):
    use(account, checkpoint_writes=12_000, resume_calls=5_000, replay_calls=1_001)
    answer = api.get("/usage").json()
    assert answer["usage"]["checkpoint_writes"] == {"count": 12_000, "free_remaining": 0, "billable": 2_000}
    assert answer["usage"]["resume_calls"] == {"count": 5_000, "free_remaining": 0, "billable": 0}
    assert answer["usage"]["replay_calls"] == {"count": 1_001, "free_remaining": 0, "billable": 1}
    assert answer["estimated_charge"] == "$2.00"


def test_the_period_is_the_month_in_utc(account):
    use(account, date(2026, 3, 1), checkpoint_writes=3)
    use(account, date(2026, 4, 1), checkpoint_writes=4)
    march = usage_of(account.id, now=MARCH)
    assert march["period"] == {"start": "2026-03-01T00:00:00.000Z", "end": "2026-04-01T00:00:00.000Z"}
    assert march["usage"]["checkpoint_writes"]["count"] == 3


def test_before_the_first_sample_of_a_month_storage_is_what_the_account_holds(account, hold):
    hold(account, 3)
    answer = usage_of(account.id)
    assert answer["usage"]["storage_gb"] == {"current": 3.0, "free_remaining": 0.0, "billable": 2.0}
    assert answer["estimated_charge"] == "$0.20"


def test_no_scope_is_needed(connect, account):
    key = import_module("accounts.services").issue_key(account, label="idle", scopes=[])[1]
    assert connect(key).get("/usage").status_code == 200


def test_an_account_sees_its_own_use_only(stranger_api, account):
    use(account, checkpoint_writes=12_000)
    assert stranger_api.get("/usage").json()["usage"]["checkpoint_writes"]["count"] == 0


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/usage?month=3", 400), ("POST", "/usage", 405), ("GET", "/usage/", 404)]
)
def test_what_the_route_does_not_know_is_refused(api, method, path, status):
    assert api.request(method, path).status_code == status


def test_usage_needs_a_key(anonymous):
    answer = anonymous.get("/usage")
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


def test_operators_see_plain_sums(account):
    use(account, date(2026, 3, 1), checkpoint_writes=3, resume_calls=2, replay_calls=1, storage_bytes_written=9)
    assert usage_this_month(account.id, now=MARCH) == {
        "checkpoint_writes": 3,
        "checkpoint_reads": 3,
        "resume_calls": 2,
        "replay_calls": 1,
        "storage_bytes_written": 9,
    }


def test_what_a_client_does_shows_in_its_usage(api, intake):
    for step in (1, 1, 2):
        api.post("/checkpoints", json={"workflow_id": "metered", "step": step, "state": {"n": step}})
    api.get("/workflows/metered/resume")
    api.get("/workflows/metered/replay", params={"limit": 1})
    api.get("/workflows/missing/replay")
    intake()
    used = api.get("/usage").json()["usage"]
    counts = [used[name]["count"] for name in ("checkpoint_writes", "resume_calls", "replay_calls")]
    assert counts == [2, 1, 1]
