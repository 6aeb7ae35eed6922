"""At 100,000 workflows and a million checkpoints of one account each report answers in under 300 ms, by its indexes."""

import time
import uuid
from datetime import UTC, datetime

import msgspec
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import services as accounts
from analytics import reports
from analytics.timeline import workflow_report
from analytics.windows import window_of
from snapstate_project.common.ids import workflow_digest
from snapstate_project.operator_reads import count_statuses

WORKFLOWS, STEPS, ERROR_EVERY = 100_000, 10, 33
MOST_MS, TRIES = 300, 30
SEEDS = (
    """INSERT INTO analytics_workflowstats (account_id, digest, generation, workflow_id, status, total_steps,
        total_size_bytes, first_checkpoint_at, last_checkpoint_at)
    SELECT %(account)s, decode(md5(%(account)s::text || n), 'hex'), 1, 'run-' || n,
        (ARRAY['completed', 'completed', 'failed', 'active'])[1 + n %% 4], %(steps)s, 10000 * %(steps)s,
        now() - n * interval '25 s', now() - n * interval '25 s' + interval '9 min'
    FROM generate_series(1, %(workflows)s) AS n""",
    """INSERT INTO analytics_workflowstep (stats_id, step, created_at, size_bytes, agent_id, label)
    SELECT id, step, first_checkpoint_at + (step - 1) * interval '1 min', 10000, 'agent-' || (id + step %% 2) %% 20,
        'a label'
    FROM analytics_workflowstats, generate_series(1, %(steps)s) AS step WHERE account_id = %(account)s""",
    """INSERT INTO analytics_workflowagent (stats_id, account_id, agent_id, steps, first_at, last_at)
    SELECT id, account_id, 'agent-' || (id + n) %% 20, %(steps)s / 2, first_checkpoint_at, last_checkpoint_at
    FROM analytics_workflowstats, generate_series(0, 1) AS n WHERE account_id = %(account)s""",
    """INSERT INTO analytics_workflowerror (stats_id, account_id, step, agent_id, error_type, error_message, created_at)
    SELECT stats_id, %(account)s, step, w.agent_id, 'timeout', 'no answer after 30 s', created_at
    FROM analytics_workflowstep w JOIN analytics_workflowstats s ON s.id = stats_id
    WHERE account_id = %(account)s AND (stats_id * %(steps)s + step) %% %(errors)s = 0""",
    """INSERT INTO analytics_dailyactivity (account_id, day, checkpoints, steps, resumes, failures)
    SELECT %(account)s, current_date - n, 34000, 33000, 1000, 900 FROM generate_series(0, 29) AS n""",
    """INSERT INTO analytics_agentday (account_id, day, agent_id, steps)
    SELECT %(account)s, current_date - n, 'agent-' || a, 1650
    FROM generate_series(0, 29) AS n, generate_series(0, 19) AS a""",
)
AGENT_EACH = (
    SEEDS[0],
    """INSERT INTO analytics_workflowagent (stats_id, account_id, agent_id, steps, first_at, last_at)
    SELECT id, account_id, workflow_id, %(steps)s, first_checkpoint_at, last_checkpoint_at
    FROM analytics_workflowstats WHERE account_id = %(account)s""",
    """INSERT INTO analytics_workflowerror (stats_id, account_id, step, agent_id, created_at)
    SELECT id, account_id, 1, workflow_id, last_checkpoint_at
    FROM analytics_workflowstats WHERE account_id = %(account)s""",
    """INSERT INTO analytics_agentday (account_id, day, agent_id, steps)
    SELECT %(account)s, current_date - n, 'run-' || a, 1
    FROM generate_series(0, 9) AS n, generate_series(1, %(workflows)s) AS a""",
)
OF_WORKFLOW = ("workflowstep", "workflowerror", "workflowagent", "workflowresumes")
OF_ACCOUNT = ("workflowstats", "dailyactivity", "agentday")
BIG = {f"analytics_{name}" for name in ("workflowstats", "workflowstep", "workflowagent", "workflowerror")}

pytestmark = pytest.mark.slow


def insert(statements, account_id, workflows):
    figures = {"account": account_id, "workflows": workflows, "steps": STEPS, "errors": ERROR_EVERY}
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement, figures)


def seed(account_id, workflows):
    insert(SEEDS, account_id, workflows)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE analytics_workflowstats SET digest = %s WHERE account_id = %s AND workflow_id = 'run-7'",
            [workflow_digest(account_id, "run-7"), account_id],
        )


def clear(account_id):
    with connection.cursor() as cursor:
        for table in OF_WORKFLOW:
            cursor.execute(
                f"DELETE FROM analytics_{table} USING analytics_workflowstats s"
                " WHERE s.id = stats_id AND s.account_id = %s",
                [account_id],
            )
        for table in OF_ACCOUNT:
            cursor.execute(f"DELETE FROM analytics_{table} WHERE account_id = %s", [account_id])


@pytest.fixture(scope="module")
def ids():
    """A busy account, and one among its rows that has done little."""
    busy, small = (accounts.create_account(email=f"{uuid.uuid4().hex}@example.com").pk for _ in range(2))
    seed(busy, WORKFLOWS)
    seed(small, 20)
    with connection.cursor() as cursor:
        for table in BIG:
            cursor.execute(f"VACUUM ANALYZE {table}")
    yield {"busy": busy, "small": small, "all": None}
    clear(busy)
    clear(small)


def ask(report, account_id):
    now = datetime.now(UTC)
    window = window_of(None, None, now=now)
    return {
        "overview": lambda: reports.overview(account_id, window),
        "failures": lambda: reports.failures(account_id, days=90, agent_id=None, now=now),
        "failures of one": lambda: reports.failures(account_id, days=90, agent_id="agent-1", now=now),
        "agents": lambda: reports.agents(account_id, window),
        "workflow": lambda: workflow_report(account_id, "run-7", now=now),
        "statuses": lambda: count_statuses(now),
    }[report]()


REPORTS = [
    *[(report, "busy") for report in ("overview", "failures", "failures of one", "agents", "workflow")],
    *[(report, "all") for report in ("overview", "failures", "statuses")],
]


@pytest.mark.parametrize(("report", "whose"), REPORTS)
def test_a_report_answers_in_time(ids, report, whose):
    assert_in_time(report, ids[whose], MOST_MS)


def assert_in_time(report, account_id, most_ms):
    """One try of several: who else works on this machine is none of the report's doing."""
    taken: list[float] = []
    while len(taken) < TRIES and min(taken, default=most_ms) >= most_ms:
        began = time.perf_counter()
        ask(report, account_id)
        taken.append((time.perf_counter() - began) * 1000)
    assert min(taken) < most_ms, taken


def test_the_report_on_agents_answers_in_time_where_each_workflow_names_another(account):
    insert(AGENT_EACH, account.pk, WORKFLOWS)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE analytics_workflowagent, analytics_agentday, analytics_workflowerror")
    try:
        assert_in_time("agents", account.pk, 2 * MOST_MS)
    finally:
        clear(account.pk)


def test_what_was_seeded_is_what_is_told(ids):
    told, last = ask("overview", ids["busy"]), ask("workflow", ids["busy"])
    assert (told["total_workflows"], told["avg_steps_per_workflow"]) == (WORKFLOWS, STEPS)
    assert (told["avg_workflow_duration_seconds"], len(told["top_agents"])) == (540, 10)
    assert ask("failures", ids["busy"])["total_failures"] == pytest.approx(WORKFLOWS * STEPS / ERROR_EVERY, abs=1)
    assert (last["total_steps"], len(last["checkpoints"]), last["duration_seconds"]) == (STEPS, STEPS, 540)


@pytest.mark.parametrize("report", ["overview", "failures", "failures of one", "agents", "workflow"])
def test_an_accounts_report_reads_by_index_however_much_others_have(ids, report):
    with CaptureQueriesContext(connection) as queries:
        ask(report, ids["small"])
    plans = [plan_of(query["sql"]) for query in queries if "analytics_" in query["sql"]]
    assert plans
    scanned = {node["Relation Name"] for plan in plans for node in nodes_of(plan) if node["Node Type"] == "Seq Scan"}
    assert not scanned & BIG, scanned


@pytest.mark.parametrize("report", ["overview", "failures", "agents"])
def test_no_report_but_that_on_one_workflow_reads_steps(ids, report):
    with CaptureQueriesContext(connection) as queries:
        ask(report, ids["busy"])
    assert not [query for query in queries if "analytics_workflowstep" in query["sql"]]
    assert len(queries) <= 7


def plan_of(sql):
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}")
        found = cursor.fetchone()[0]
    return (msgspec.json.decode(found) if isinstance(found, str) else found)[0]["Plan"]


def nodes_of(plan):
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes_of(part)
