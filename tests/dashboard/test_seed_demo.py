"""A demo holds together: what reports tell can be counted again from its events, and every workflow can be resumed."""

import io
from urllib.parse import quote

import msgspec
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import Count, Sum
from django.test import override_settings

from accounts import services
from accounts.models import Account
from agents_app.models import Agent
from analytics.models import AgentDay, DailyActivity, WorkflowAgent, WorkflowError, WorkflowStats, WorkflowStep
from billing.models import StorageSample, UsageDay, UsageRecord
from checkpoints import archiving
from checkpoints.models import ArchiveProblem, ArchiveSegment, Checkpoint, Workflow
from snapstate_project.demo.population import Wanted, people
from snapstate_project.events.models import Event
from tests.dashboard.seeded import demo
from webhooks.models import Delivery, Endpoint

WANTED = {"accounts": 12, "workflows": 300, "checkpoints": 2_400, "seed": 7}


@pytest.fixture(scope="module", autouse=True)
def seeded():
    with demo(**WANTED):
        yield


@pytest.fixture
def client_of(connect):
    """The API as an account calls it, closed and suspended ones set going again."""

    def make(account):
        account = services.set_rate_limit(services.reactivate_account(account), 1_000_000)
        return connect(services.issue_key(account)[1])

    return make


def test_there_is_as_much_as_was_asked_for():
    archived = ArchiveSegment.objects.aggregate(count=Sum("count"))["count"]
    assert Account.objects.count() == WANTED["accounts"]
    assert Workflow.objects.count() == WorkflowStats.objects.count() == WANTED["workflows"]
    assert Checkpoint.objects.count() + archived == WorkflowStep.objects.count() == WANTED["checkpoints"]
    assert Workflow.objects.aggregate(sum=Sum("total_checkpoints"))["sum"] == WANTED["checkpoints"]
    assert all(model.objects.exists() for model in (Agent, ArchiveProblem, Delivery, Endpoint, StorageSample))


def test_every_workflow_can_be_resumed_and_replayed(client_of):
    clients = {account.pk: client_of(account) for account in Account.objects.all()}
    sources = set()
    for workflow in Workflow.objects.order_by("id")[::9]:
        api, path = clients[workflow.account_id], f"/workflows/{quote(workflow.workflow_id, safe='')}"
        resumed, replayed = api.get(f"{path}/resume"), api.get(f"{path}/replay?limit=1000")
        assert (resumed.status_code, replayed.status_code) == (200, 200), workflow
        head, steps = resumed.json()["latest_checkpoint"], replayed.json()["checkpoints"]
        sources.add(resumed.json()["source"])
        assert [step["step"] for step in steps] == list(range(1, workflow.total_checkpoints + 1))
        assert (steps[-1]["etag"], steps[-1]["state"]) == (head["etag"], head["state"])
        assert head["etag"].startswith(f'"1-{workflow.head_sequence}-')
        assert sum(step["size_bytes"] for step in steps) == workflow.size_bytes
    assert sources == {"warm", "archive"}


def test_a_seeded_workflow_goes_on(client_of, intake):
    workflow = Workflow.objects.filter(evicted_at=None).latest("id")
    api, step = client_of(workflow.account), workflow.total_checkpoints + 1
    body = {"workflow_id": workflow.workflow_id, "step": step, "state": {"goes": "on"}}
    assert api.post("/checkpoints", json=body).status_code == 201
    intake()
    assert Workflow.objects.get(pk=workflow.pk).total_checkpoints == step
    assert WorkflowStats.objects.get(account=workflow.account_id, digest=workflow.digest).total_steps == step


def figures():
    return {
        model.__name__: list(model.objects.order_by().values(*columns).annotate(n=Count("*")).order_by(*columns))
        for model, columns in (
            (WorkflowStats, ("account", "digest", "status", "total_steps", "total_size_bytes")),
            (DailyActivity, ("account", "day", "checkpoints", "steps", "resumes", "failures")),
            (AgentDay, ("account", "day", "agent_id", "steps")),
            (WorkflowError, ("account", "step", "error_type", "created_at")),
            (WorkflowAgent, ("account", "agent_id", "steps")),
        )
    }


def test_counted_again_from_its_events_everything_is_the_same():
    before = figures()
    call_command("rebuild_analytics")
    assert figures() == before


def test_what_is_billed_is_what_happened():
    counted = Event.objects.filter(type="checkpoint.saved").values("account_id").annotate(n=Count("*"))
    told = UsageDay.objects.values("account_id").annotate(n=Sum("checkpoint_writes"))
    months = UsageRecord.objects.values("account_id").annotate(n=Sum("checkpoint_writes"))
    by_account = [{row["account_id"]: row["n"] for row in rows} for rows in (counted, told, months)]
    assert by_account[0] == by_account[1] == by_account[2]


def test_every_event_and_message_can_be_read():
    assert {getattr(event.body, "generation", None) for event in Event.objects.iterator()} == {1}
    for delivery in Delivery.objects.select_related("endpoint").order_by("id")[:50]:
        assert msgspec.json.decode(delivery.body)["webhook_id"] == delivery.endpoint.webhook_id
        assert (delivery.status in ("delivered", "failed"), delivery.next_attempt_at) == (True, None)


def test_nothing_of_it_is_due_at_once():
    done = archiving.archive_expiring()
    assert (done.archived, done.evicted, done.failed) == (0, 0, 0)


def test_it_goes_in_once_and_touches_nobody_else():
    with pytest.raises(CommandError, match="is there already"):
        call_command("seed_demo", **WANTED)


def test_the_same_seed_is_the_same_demo():
    wanted = Wanted(**WANTED, now=Account.objects.earliest("created_at").created_at)
    assert {person.email for person in people(wanted)} == set(Account.objects.values_list("email", flat=True))


def test_it_is_refused_where_it_looks_like_production():
    with (
        override_settings(APP_URL="https://snapstate.example.com", DEBUG=True),
        pytest.raises(CommandError, match="looks like production"),
    ):
        call_command("seed_demo", **{**WANTED, "seed": 8})
    out = io.StringIO()
    with override_settings(APP_URL="https://snapstate.example.com"):
        call_command("seed_demo", **{**WANTED, "seed": 8}, force=True, stdout=out)
    assert "Authorization: Bearer" in out.getvalue()


@pytest.mark.parametrize("counts", [{"checkpoints": 10}, {"checkpoints": 100_000}, {"accounts": 0}, {"workflows": 0}])
def test_nonsense_is_refused(counts):
    with pytest.raises(CommandError):
        call_command("seed_demo", **{**WANTED, "seed": 9, **counts})


def test_without_caught_up_subscribers_there_are_no_events():
    with connection.cursor() as cursor:
        cursor.execute("UPDATE events_subscribercursor SET position = position - 1 WHERE name = 'billing'")
    events, errors = Event.objects.count(), io.StringIO()
    call_command("seed_demo", **{**WANTED, "seed": 10}, stderr=errors)
    assert "would have counted twice" in errors.getvalue()
    assert Event.objects.count() == events
