"""The list of workflows: found by what their heads say, in every tier, page after page without skipping any."""

import re
import uuid
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from checkpoints import list_admin
from checkpoints.admin import WorkflowAdmin
from checkpoints.models import Workflow

LIST = "/admin/checkpoints/workflow/"


@pytest.fixture
def save(api, intake, account):
    def run(workflow_id, **more):
        body = {"workflow_id": workflow_id, "step": 1, "state": {}, **more}
        assert api.post("/checkpoints", json=body).status_code == 201
        intake()
        return Workflow.objects.get(account=account, workflow_id=workflow_id)

    return run


def listed(client, query):
    page = client.get(LIST, query) if isinstance(query, dict) else client.get(LIST + query)
    assert page.status_code == 200
    return [int(number) for number in re.findall(rf'href="{LIST}(\d+)/change/', page.text)], page.text


def found(client, **query):
    return set(listed(client, query)[0])


def test_workflows_are_found_by_a_pair_of_their_metadata(save, account, admin_client):
    team = uuid.uuid4().hex
    one, two = save("one", metadata={"team": team, "n": 7}), save("two", metadata={"team": team, "n": 8})
    assert found(admin_client, metadata=f"team={team}") == {one.pk, two.pk}
    assert found(admin_client, metadata="n=7", account=account.email) == {one.pk}
    assert found(admin_client, metadata="nonsense") == set()
    assert found(admin_client, metadata=f"team={team}", status="failed") == set()


def test_workflows_are_found_by_tier(save, account, admin_client):
    live, cold = save("live"), save("cold")
    admin_client.post(f"{LIST}{cold.pk}/archive_now/", {"confirmed": "yes"})
    assert found(admin_client, account=account.email, tier="archive") == {cold.pk}
    assert found(admin_client, account=account.email, tier="live") == {live.pk}
    assert found(admin_client, account=account.email, tier="pinned") == set()
    assert found(admin_client, q="cold", account=account.email) == {cold.pk}


def test_workflows_are_found_by_time(save, account, admin_client):
    old, new = save("old"), save("new")
    Workflow.objects.filter(pk=old.pk).update(last_activity_at=datetime(2026, 1, 2, 3, tzinfo=UTC))
    names = ("last_activity_at_from_0", "last_activity_at_from_1", "last_activity_at_to_0", "last_activity_at_to_1")
    window = dict(zip(names, ("2026-01-02", "00:00:00", "2026-01-02", "23:59:59"), strict=True))
    assert found(admin_client, account=account.email, **window) == {old.pk}
    assert found(admin_client, account=account.email) == {old.pk, new.pk}


def test_workflows_are_found_by_their_digest(save, admin_client):
    workflow = save("by digest")
    assert found(admin_client, q=bytes(workflow.digest).hex()) == {workflow.pk}
    assert found(admin_client, q=uuid.uuid4().hex) == set()


def pages(client, query):
    """Every page from the first on, by its own links."""
    while query is not None:
        rows, text = listed(client, query)
        yield rows, text
        link = re.search(r'href="([^"]*before=[^"]*)" rel="next"', text)
        query = unescape(link[1]) if link else None


def test_pages_follow_one_another_while_workflows_move(save, account, admin_client, monkeypatch):
    monkeypatch.setattr(WorkflowAdmin, "list_per_page", 3)
    rows = [save(f"page-{number}").pk for number in range(8)]
    seen: list[int] = []
    for page, _ in pages(admin_client, {"account": account.email}):
        seen += page
        save(f"moved-{len(seen)}")
    assert seen == rows[::-1]


def test_a_page_looks_through_a_stretch_and_says_how_far(save, account, admin_client, monkeypatch):
    monkeypatch.setattr(list_admin, "STRETCH", 3)
    rows = [save(f"far-{number}", label="sought" if number in (0, 6) else None).pk for number in range(8)]
    told = list(pages(admin_client, {"account": account.email, "label": "sought"}))
    assert [row for page, _ in told for row in page] == [rows[6], rows[0]]
    assert "Look further back" in told[0][1]
    assert "Look further back" not in told[-1][1]


def test_a_cursor_of_nobodys_begins_at_the_beginning(save, account, admin_client):
    workflow = save("first")
    assert found(admin_client, account=account.email, before="bm9uc2Vuc2U") == {workflow.pk}


def test_a_page_is_a_handful_of_queries_and_counts_nothing(save, account, admin_client):
    save("counted", label="x", metadata={"a": "b"})
    with CaptureQueriesContext(connection) as queries:
        found(admin_client, account=account.email, status="active", label="x", metadata="a=b", agent="nobody")
        found(admin_client)
    assert len(queries) <= 30
    assert not [query for query in queries if "COUNT(" in query["sql"]]


def test_the_order_of_activity_is_an_indexs(admin_client):
    now = datetime.now(UTC) - timedelta(days=1)
    rows = Workflow.objects.filter(head_step__isnull=False).order_by(*list_admin.ORDER)
    with connection.cursor() as cursor:
        cursor.execute("SET enable_seqscan = off; SET enable_sort = off")
        plan = list_admin.behind(rows, list_admin.Position(now, 5))[:51].explain()
        cursor.execute("RESET ALL")
    assert "workflow_newest" in plan
