"""No address that is typed, mangled or made up brings a page down: it is answered, refused or not found."""

from typing import Any

import pytest
from auditlog.models import LogEntry
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Account
from checkpoints.models import ArchiveProblem, Workflow

IDS = ("0", "abc", "_00", "9" * 30, "-1", "..", "%F0%9F%A4%96", "a_2Fb", "<script>", "x" * 300)
QUERIES = (
    *("p=abc", "p=" + "1" * 5000, "p=-1", "o=1.-2.99.x", "q=" + "%F0%9F%A4%96" * 255, "q=%27%22%3Cscript%3E", "all="),
    *("_popup=1&_to_field=id", "q=" + "9" * 40, "before=abc", "q=" + "0" * 32, "q=a%5C_%25", "created_at__gte=abc"),
    *("status__exact=abc", "nothing=1", "account=zzz", "metadata=x", "month_from=abc&month_to=9999-99-99", "label=x"),
    *("last_activity_at_from_0=9999-12-31&last_activity_at_to_0=x", "timestamp_to_0=9999-12-31&timestamp_to_1=25:99"),
)
PAGES: dict[str, Any] = {
    f"admin:{model._meta.app_label}_{model._meta.model_name}": each for model, each in admin.site._registry.items()
}


@pytest.mark.parametrize("name", PAGES)
def test_no_query_brings_a_list_down(admin_client: Client, name: str):
    url = reverse(f"{name}_changelist")
    answers = {query[:40]: admin_client.get(f"{url}?{query}").status_code for query in QUERIES}
    assert set(answers.values()) <= {200, 302, 400}, answers


@pytest.mark.parametrize("name", PAGES)
def test_no_id_brings_a_page_or_an_action_down(admin_client: Client, name: str):
    url, model_admin = reverse(f"{name}_changelist"), PAGES[name]
    actions = model_admin._extract_action_names(model_admin.actions_detail)
    pages = ("change/", "history/", "delete/", *(f"{each}/" for each in actions))
    calls = [(call, f"{url}{id_}/{page}") for id_ in IDS for page in pages for call in ("get", "post")]
    answers = {(call, path): getattr(admin_client, call)(path).status_code for call, path in calls}
    assert set(answers.values()) <= {200, 302, 403, 404}, answers


@pytest.mark.parametrize("step", ["9" * 16, "9" * 18, "9" * 30, "9" * 5000])
def test_no_step_brings_a_workflows_pages_down(admin_client: Client, worked: None, step: str):
    url = f"/admin/checkpoints/workflow/{Workflow.objects.filter(workflow_id='report').latest('id').pk}"
    paths = (f"state/{step}/", f"diff/?from={step}", f"diff/?to={step}", f"change/?before={step}")
    assert {admin_client.get(f"{url}/{path}").status_code for path in paths} <= {200, 302, 404}


def test_trying_again_all_that_is_set_aside_asks_little_however_much_it_is(admin_client: Client, account: Account):
    rows = [Workflow(account=account, workflow_id=f"w{n}", digest=n.to_bytes(16), head_step=1) for n in range(300)]
    made = Workflow.objects.bulk_create(rows)
    ArchiveProblem.objects.bulk_create(ArchiveProblem(workflow=row, reason="gone") for row in made)
    with CaptureQueriesContext(connection) as asked:
        answer = admin_client.post(reverse("admin:checkpoints_archiveproblem_retry_all"), {"_form_submitted": "1"})
    assert answer.status_code == 302
    assert len(asked) < 40
    assert "Asked to try again now" in str(LogEntry.objects.latest("id").additional_data)


@pytest.mark.parametrize("path", ["login/", "logout/", "accounts/account/add/"])
def test_a_form_whose_cookie_is_gone_says_so(path: str):
    answer = Client(enforce_csrf_checks=True, SERVER_NAME="localhost").post(f"/admin/{path}", {"username": "x"})
    page = answer.content.decode()
    assert (answer.status_code, answer["X-Request-Id"] in page) == (403, True)
    assert "This form is out of date, and nothing was done" in page
    assert 'href="/admin/"' in page
