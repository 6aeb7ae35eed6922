"""Promise 6: ten thousand calls while workers die; then every room has counted each of them once, to the unit."""

import base64
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.promises.calling import Caller
from tests.promises.stack import Stack, Tenant, within
from tests.webhooks.receiver import Receiver

OPERATIONS = 10_000
PROCESSES = 4
MORTALS = ("intake", "worker", "webhooks", "beat")
DEATHS_OF_EACH = 5  # not as many as there is time for: on a busy machine the starts alone would keep the calls waiting
EVENTS = ("checkpoint.saved", "workflow.resumed", "workflow.completed", "workflow.failed")
SECRET = "whsec_" + base64.b64encode(b"thirty-two bytes of a test's key").decode()
DELIVERED_WITHIN_SECONDS = 300.0
ITS_TURN_IS_NOW = "UPDATE webhooks_delivery SET next_attempt_at = now() WHERE next_attempt_at > now() RETURNING id"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Has its troubles at first, and then takes everything."""
    receiver = Receiver(500, 200, 503, 200)
    yield receiver
    receiver.stop()


def register(caller: Caller, receiver: Receiver) -> str:
    body = {"url": receiver.url, "events": EVENTS, "secret": SECRET}
    answer = caller.call("POST", "/webhooks", json.dumps(body).encode())
    assert answer.status == 201, answer.body
    return str(answer.json["webhook_id"])


def work_while_workers_die(stack: Stack, tenant: Tenant) -> list[dict[str, Any]]:
    """What the agents of all processes say must have been counted, workflow by workflow."""
    command = [sys.executable, "-m", "tests.promises.agents_at_work", stack.url, tenant.key]
    agents = [
        subprocess.Popen([*command, str(seed), str(OPERATIONS // PROCESSES)], stdout=subprocess.PIPE, text=True)
        for seed in range(PROCESSES)
    ]
    for name in random.sample(MORTALS * DEATHS_OF_EACH, len(MORTALS) * DEATHS_OF_EACH):
        if all(process.poll() is not None for process in agents):
            break
        stack.kill(name)
        time.sleep(random.random())
        stack.start_again(name)
        time.sleep(1)
    told = [process.communicate()[0] for process in agents]
    assert [process.returncode for process in agents] == [0] * PROCESSES, stack.last_words()
    return [work for line in told for work in json.loads(line)]


def test_ten_thousand_calls_are_counted_once_in_every_room(
    stack: Stack, tenant: Tenant, receiver: Receiver, note
) -> None:
    with Caller(stack.url, tenant.key) as caller:
        webhook_id = register(caller, receiver)
    works = work_while_workers_die(stack, tenant)
    told = sum((Counter(work["told"]) for work in works), Counter())
    stack.catch_up()
    with Caller(stack.url, tenant.key) as caller:
        check_usage(stack, tenant, caller, told)
        check_analytics(stack, tenant, caller, works, told)
        check_agents(caller)
    let_leases_run_out(stack)
    seconds = wait_for_deliveries(stack, tenant)
    check_deliveries(stack, tenant, receiver, webhook_id, works, told)
    note(f"{dict(told)}; {len(receiver.got)} requests to the receiver; delivered {seconds:.0f} s after the last call")


def check_usage(stack: Stack, tenant: Tenant, caller: Caller, told: Counter[str]) -> None:
    truth = {"checkpoint_writes": told["writes"], "resume_calls": told["resumes"], "replay_calls": told["replays"]}
    assert caller.usage() == truth
    for table in ("billing_usagerecord", "billing_usageday"):
        query = f"SELECT sum(checkpoint_writes)::int, sum(resume_calls)::int, sum(replay_calls)::int FROM {table}"
        counted = stack.sql(f"{query} WHERE account_id = %s", tenant.account_id)
        assert counted == [tuple(truth.values())], table


def check_analytics(
    stack: Stack, tenant: Tenant, caller: Caller, works: list[dict[str, Any]], told: Counter[str]
) -> None:
    query = "SELECT sum(checkpoints)::int, sum(resumes)::int, sum(failures)::int, sum(steps)::int"
    days = stack.sql(f"{query} FROM analytics_dailyactivity WHERE account_id = %s", tenant.account_id)
    assert days == [(told["writes"], told["resumes"], told["failures"], told["steps"])]
    for work in works:
        report = caller.call("GET", f"/analytics/workflows/{work['name']}").json
        counted = [report[name] for name in ("total_steps", "status", "resumed_count", "error_count")]
        told_of_it = Counter(work["told"])
        assert counted == [work["steps"], work["status"], told_of_it["resumes"], told_of_it["failures"]], report
    overview = caller.call("GET", "/analytics/overview").json
    states = Counter(work["status"] for work in works)
    names = ("total_workflows", "completed_workflows", "failed_workflows", "total_checkpoints")
    assert [overview[name] for name in names] == [len(works), states["completed"], states["failed"], told["steps"]]
    assert caller.call("GET", "/analytics/failures").json["total_failures"] == told["failures"]


def check_agents(caller: Caller) -> None:
    """None was registered, so none is listed; reports know them all the same."""
    assert caller.call("GET", "/agents").json["agents"] == []
    reported = caller.call("GET", "/analytics/agents").json["agents"]
    assert {agent["agent_id"] for agent in reported} == {"planner", "coder", "tester"}


def let_leases_run_out(stack: Stack) -> None:
    """A worker that died keeps what it was sending for two minutes: they pass now, while nobody sends."""
    stack.kill("webhooks")
    stack.sql(ITS_TURN_IS_NOW)
    stack.start_again("webhooks")


def wait_for_deliveries(stack: Stack, tenant: Tenant) -> float:
    began = time.monotonic()
    waiting = """SELECT count(*) FROM webhooks_delivery d JOIN webhooks_endpoint e ON e.id = d.endpoint_id
        WHERE e.account_id = %s AND d.status = 'pending'"""
    over = within(DELIVERED_WITHIN_SECONDS, lambda: stack.sql(waiting, tenant.account_id) == [(0,)])
    assert over, stack.last_words()
    return time.monotonic() - began


def check_deliveries(
    stack: Stack, tenant: Tenant, receiver: Receiver, webhook_id: str, works: list[dict[str, Any]], told: Counter[str]
) -> None:
    """One for each event, each delivered, each heard; nothing else was heard, and all of it is signed."""
    query = """SELECT d.event_type, d.status, count(*)::int, count(DISTINCT d.event_uid)::int FROM webhooks_delivery d
        JOIN webhooks_endpoint e ON e.id = d.endpoint_id WHERE e.account_id = %s GROUP BY 1, 2"""
    truth = [told["writes"], told["resumes"], told["completed"], told["failed"]]
    rows = stack.sql(query, tenant.account_id)
    assert sorted(rows) == sorted((name, "delivered", n, n) for name, n in zip(EVENTS, truth, strict=True))
    heard = {}
    for got in receiver.got:
        heard[got.headers["webhook-id"]] = Webhook(SECRET).verify(got.body, dict(got.headers))
    assert Counter(body["type"] for body in heard.values()) == dict(zip(EVENTS, truth, strict=True))
    assert {body["webhook_id"] for body in heard.values()} == {webhook_id}
    assert {body["data"]["workflow_id"] for body in heard.values()} == {work["name"] for work in works}
