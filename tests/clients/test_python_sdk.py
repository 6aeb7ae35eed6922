"""Every method of our Python SDK against the live server, sync and async: what it asks is what it is answered."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from snapstate_sdk import (
    AuthError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PayloadTooLargeError,
    RateLimitError,
    SnapStateClient,
    ValidationError,
)

from accounts import services
from accounts.keys import SCOPES
from tests.clients.python_sdk import Twin, methods

ODD = "a/b %2F?#🤖.é"
SESSIONS = {"workflow", "close"}  # these have tests of their own


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def make(request: pytest.FixtureRequest, base_url: str) -> Iterator[Callable[[str], Twin]]:
    made: list[Twin] = []

    def with_key(secret: str, **more: Any) -> Twin:
        made.append(Twin(SnapStateClient(secret, base_url, **more), through_asyncio=request.param))
        return made[-1]

    yield with_key
    for twin in made:
        twin.stop()


@pytest.fixture
def sdk(make: Callable[[str], Any], key: str) -> Any:
    return make(key)


def test_every_method_is_called_here() -> None:
    called = set(re.findall(r"\bsdk\.(\w+)\(", Path(__file__).read_text()))
    assert methods() - SESSIONS == called


def test_a_checkpoint_is_saved_and_comes_back(sdk: Any) -> None:
    saved = sdk.save(
        ODD, 1, {"n": 2**70, "f": 1.0}, "first", {"k": "é"}, "agent-1", 3600, if_none_match="*", error=OSError("disk")
    )
    assert (saved.checkpoint_id, saved.step, saved.replayed) == (f"cp_{ODD}_001", 1, False)
    assert saved.diff_from_previous == {"added": ["n", "f"], "removed": [], "changed": []}
    got = sdk.get(saved.checkpoint_id)
    assert (got.state, got.metadata, got.label, got.agent_id) == (
        {"n": 2**70, "f": 1.0},
        {"k": "é"},
        "first",
        "agent-1",
    )
    assert (got.status, got.error, got.etag) == ("active", {"type": "OSError", "message": "disk"}, saved.etag)
    assert got.state_json == f'{{"n":{2**70},"f":1.0}}'
    assert saved.size_bytes == len(got.state_json)
    assert sdk.get_if_changed(saved.checkpoint_id, saved.etag) is None
    assert sdk.get_if_changed(saved.checkpoint_id, '"1-1-0"').state == got.state


def test_the_same_save_is_a_replay_and_another_a_conflict(sdk: Any) -> None:
    first = sdk.save("wf", 1, {"a": 1})
    again = sdk.save("wf", 1, {"a": 1.0})
    assert (again.replayed, again.etag) == (True, first.etag)
    with pytest.raises(ConflictError) as caught:
        sdk.save("wf", 1, {"a": 2})
    assert caught.value.existing == {"checkpoint_id": "cp_wf_001", "etag": first.etag}
    replaced = sdk.save("wf", 1, {"a": 2}, if_match=first.etag, diff=False)
    assert (replaced.replayed, replaced.diff_from_previous) == (False, None)
    with pytest.raises(ConflictError):
        sdk.save("wf", 2, {}, if_match=first.etag)
    with pytest.raises(ConflictError):
        sdk.save("wf", 2, {}, if_none_match="*")


def test_a_workflow_is_resumed_replayed_and_compared(sdk: Any) -> None:
    for step in range(1, 6):
        sdk.save(ODD, step, {"step": step}, "odd" if step % 2 else "even", status="completed" if step == 5 else None)
    resumed = sdk.resume(ODD, agent_id="agent-1")
    assert (resumed.status, resumed.source, resumed.total_checkpoints) == ("completed", "hot", 5)
    assert (resumed.state, resumed.state_json) == ({"step": 5}, '{"step":5}')
    page = sdk.replay(ODD, 2, 5, 2)
    assert ([one.step for one in page.checkpoints], page.total, page.has_more) == ([2, 3], 2, True)
    following = sdk.replay(ODD, 2, 5, 2, cursor=page.next_cursor)
    assert ([one.step for one in following.checkpoints], following.has_more) == ([4, 5], False)
    assert [one.step for one in sdk.checkpoints(ODD, page_size=2)] == [1, 2, 3, 4, 5]
    bare = sdk.checkpoints(ODD, 2, 4, label="odd", include_state=False)
    assert [(one.step, one.state, one.state_json) for one in bare] == [(3, {}, None)]
    assert sdk.diff(ODD).diff["changed"] == ["step"]
    assert (sdk.diff(ODD, 1, 4).from_step, sdk.diff(ODD, 1, 4).to_step) == (1, 4)
    assert sdk.replay("unknown").checkpoints == sdk.checkpoints("unknown") == []


def test_workflows_are_listed_kept_and_erased(sdk: Any, intake: Callable[[], None]) -> None:
    for number in range(5):
        sdk.save(f"{ODD}-{number}", 1, {}, "l", {"number": number, "odd": bool(number % 2)}, "agent-1")
    intake()
    names = [f"{ODD}-{number}" for number in (4, 3, 2, 1, 0)]
    assert [one.workflow_id for one in sdk.workflows(page_size=2)] == names
    page = sdk.list_workflows(limit=2, q=ODD, status="active", agent_id="agent-1", label="l")
    assert ([one.workflow_id for one in page.workflows], page.has_more) == (names[:2], True)
    assert [one.workflow_id for one in sdk.list_workflows(cursor=page.next_cursor).workflows] == names[2:]
    assert [one.metadata["number"] for one in sdk.workflows(metadata={"odd": True})] == [3, 1]
    later = datetime.now(UTC) + timedelta(hours=1)
    assert sdk.workflows(updated_after=later) == []
    assert len(sdk.workflows(updated_before=later, updated_after=later - timedelta(hours=2))) == 5
    changed = sdk.update_workflow(names[0], ttl_seconds=60, pinned=True, keep_last=3)
    assert (changed.ttl_seconds, changed.pinned, changed.keep_last) == (60, True, 3)
    assert sdk.update_workflow(names[0], keep_last=None).keep_last is None
    assert sdk.get_workflow(names[0]).pinned
    assert sdk.erase(names[0]) is None
    for gone in (sdk.get_workflow, sdk.resume, sdk.erase):
        with pytest.raises(NotFoundError):
            gone(names[0])


def test_agents_are_registered_and_forgotten(sdk: Any) -> None:
    made = sdk.register_agent("agent-1", "One", "first", ["search"], {"model": "m"})
    assert (made.name, made.description, made.capabilities, made.metadata) == (
        "One",
        "first",
        ["search"],
        {"model": "m"},
    )
    assert sdk.register_agent("agent-1", description="still").name == "One"
    for number in range(2, 5):
        sdk.register_agent(f"agent-{number}", "More")
    assert len(sdk.agents(page_size=2)) == len(sdk.list_agents()) == 4
    assert sdk.update_agent("agent-1", capabilities=[]).capabilities == []
    assert sdk.get_agent("agent-1").description == "still"
    with pytest.raises(ValidationError):
        sdk.update_agent("agent-1")
    sdk.delete_agent("agent-1")
    with pytest.raises(NotFoundError):
        sdk.get_agent("agent-1")


def test_analytics_usage_and_health(sdk: Any, intake: Callable[[], None]) -> None:
    sdk.save(ODD, 1, {}, agent_id="agent-1")
    sdk.save(ODD, 2, {}, agent_id="agent-1", status="failed", error={"type": "ToolDied", "message": "no answer"})
    sdk.resume(ODD)
    intake()
    today = datetime.now(UTC).date()
    overview = sdk.analytics_overview(today - timedelta(days=1), today.isoformat())
    assert (overview["total_workflows"], overview["failed_workflows"], overview["total_checkpoints"]) == (1, 1, 2)
    assert date.fromisoformat(overview["period"]["start"][:10]) == today - timedelta(days=1)
    report = sdk.analytics_workflow(ODD)
    assert (report["workflow_id"], report["total_steps"], report["resumed_count"]) == (ODD, 2, 1)
    failures = sdk.analytics_failures(days=1, agent_id="agent-1")
    assert failures["recent_failures"][0]["error_type"] == "ToolDied"
    assert sdk.analytics_agents()["agents"][0]["agent_id"] == "agent-1"
    assert sdk.usage()["usage"]["checkpoint_writes"]["count"] == 2
    assert sdk.health()["status"] in ("ok", "degraded")


def test_webhooks_are_registered_tested_and_deleted(sdk: Any) -> None:
    made = sdk.register_webhook("https://example.com/hook", ["checkpoint.saved"], description="mine")
    other = sdk.register_webhook("https://example.com/other", ["workflow.failed"], "a secret")
    assert (made["secret"][:6], other["secret"], made["description"]) == ("whsec_", "a secret", "mine")
    assert {one["webhook_id"] for one in sdk.webhooks(page_size=1)} == {made["webhook_id"], other["webhook_id"]}
    assert len(sdk.list_webhooks()) == 2
    webhook_id = made["webhook_id"]
    sent = sdk.test_webhook(webhook_id)
    assert [one["delivery_id"] for one in sdk.deliveries(webhook_id)] == [sent["delivery_id"]]
    assert sdk.resend_delivery(webhook_id, sent["delivery_id"])["event_id"] == sent["event_id"]
    assert sdk.rotate_webhook_secret(webhook_id)["secret"] != made["secret"]
    assert sdk.rotate_webhook_secret(webhook_id, "mine")["secret"] == "mine"
    assert sdk.update_webhook(webhook_id, status="disabled", events=["quota.exceeded"])["status"] == "disabled"
    assert sdk.get_webhook(webhook_id)["events"] == ["quota.exceeded"]
    with pytest.raises(ConflictError):
        sdk.test_webhook(webhook_id)
    sdk.delete_webhook(webhook_id)
    with pytest.raises(NotFoundError):
        sdk.get_webhook(webhook_id)


def test_refusals_are_what_they_say(make: Any, sdk: Any, stranger: str) -> None:
    sdk.save("wf", 1, {})
    with pytest.raises(NotFoundError) as missing:
        make(stranger).resume("wf")
    assert re.fullmatch(r"[0-9a-f-]{36}", missing.value.request_id or "")
    with pytest.raises(AuthError):
        make("snp_" + "0" * 32).usage()
    with pytest.raises(ValidationError) as wrong:
        sdk.save("wf", "7", {})
    assert wrong.value.details[0]["path"] == "step"
    with pytest.raises(PayloadTooLargeError):
        sdk.save("wf", 2, {"x": "x" * 1_048_576})


def test_scopes_and_limits_are_what_they_say(make: Any, limited: Callable[..., str]) -> None:
    with pytest.raises(ForbiddenError):
        make(limited(scopes=["analytics:read"])).save("wf", 1, {})
    hasty = make(limited(rate_limit_max=2), deadline=1)
    with pytest.raises(RateLimitError) as caught:
        [hasty.usage() for _ in range(4)]
    assert 1 <= (caught.value.retry_after or 0) <= 60


@pytest.fixture
def limited(make_account: Callable[..., Any]) -> Callable[..., str]:
    """The secret of a key that may less."""

    def issue(*, rate_limit_max: int | None = None, scopes: list[str] | None = None) -> str:
        account = make_account(rate_limit_max=rate_limit_max)
        return services.issue_key(account, scopes=SCOPES if scopes is None else scopes)[1]

    return issue
