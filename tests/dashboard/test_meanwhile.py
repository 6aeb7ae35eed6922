"""What operators do on pages that are no longer true: another was there first, or the session is over."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from auditlog.models import LogEntry
from django.test import Client
from django.utils import timezone

from accounts import closing, services
from accounts.models import Account
from checkpoints.models import ArchiveProblem, ArchiveSegment, Workflow
from checkpoints.retention import beyond
from webhooks.models import Endpoint

ACCOUNTS = "/admin/accounts/account"
YES = {"confirmed": "yes", "reason": "unpaid", "days": "7", "_form_submitted": "1"}
STANDS = "Nothing was done: that does not go with how this stands by now."
HTMX = {"HX-Request": "true", "HX-Current-URL": "http://localhost/admin/checkpoints/archiveproblem/?p=1"}


def terms(account: Account) -> dict[str, Any]:
    """The form as an operator who opened it now would send it back."""
    held = {name: getattr(account, name) for name in ("plan", "rate_limit_max", "keep_last", "archive_days")}
    shown = {name: "" if value is None else str(value) for name, value in held.items()}
    return {**shown, **{f"initial-{name}": value for name, value in shown.items()}}


def rows(account: Account) -> dict[str, Any]:
    """Pages of actions that do not fit what their rows are by now."""
    services.suspend_account(account)
    key, _ = services.issue_key(account)
    services.revoke_key(key)
    pinned = Workflow.objects.create(account=account, workflow_id="w", digest=b"w", head_step=1, pinned=True)
    hook = Endpoint.objects.create(
        account=account, url="https://example.com", events=["x"], status="disabled", created_at=timezone.now()
    )
    return {
        f"{ACCOUNTS}/{account.pk}/": ["suspend", "undo_deletion"],
        f"/admin/accounts/apikey/{key.pk}/": ["revoke", "change_scopes"],
        f"/admin/checkpoints/workflow/{pinned.pk}/": ["make_hot", "archive_now", "pin"],
        f"/admin/webhooks/endpoint/{hook.pk}/": ["disable", "resend_since"],
    }


def test_what_no_longer_fits_leads_back_to_how_it_stands(admin_client: Client, account: Account):
    for row, actions in rows(account).items():
        for action in actions:
            for call in (admin_client.get, admin_client.post):
                answer = call(f"{row}{action}/", YES)
                assert (answer.status_code, answer["Location"]) == (302, f"{row}change/"), action
                assert STANDS in admin_client.get(f"{row}change/").content.decode()


def test_who_may_not_is_told_so_and_not_how_it_stands(member: Callable[[str], Client], account: Account):
    viewer = member("viewers")
    for row, actions in rows(account).items():
        assert {viewer.post(f"{row}{action}/", YES).status_code for action in actions} == {403}


def test_a_deletion_that_is_scheduled_is_not_scheduled_again(admin_client: Client, account: Account):
    closing.schedule_deletion(account, reason="x")
    for action in ("schedule_deletion", "suspend", "reactivate"):
        assert admin_client.post(f"{ACCOUNTS}/{account.pk}/{action}/", YES)["Location"].endswith("/change/")
    assert account.deletions.count() == 1


def test_terms_that_another_has_set_meanwhile_stay(member: Callable[[str], Client], account: Account):
    before = terms(account)
    member("administrators").post(f"{ACCOUNTS}/{account.pk}/change_terms/", {**before, "rate_limit_max": "9000"})
    member("support").post(f"{ACCOUNTS}/{account.pk}/change_terms/", {**before, "plan": "pro"})
    account.refresh_from_db()
    assert (account.plan, account.rate_limit_max) == ("pro", 9000)
    newest = LogEntry.objects.get_for_object(account).latest("id")
    assert set(newest.changes_dict) & {"plan", "rate_limit_max"} == {"plan"}


def test_to_keep_less_is_asked_once_more(admin_client: Client, account: Account):
    path = f"{ACCOUNTS}/{account.pk}/change_terms/"
    many = Workflow(account=account, workflow_id="m", digest=b"m", head_step=1, total_checkpoints=1_501)
    few = Workflow(account=account, workflow_id="f", digest=b"f", head_step=1, total_checkpoints=1)
    Workflow.objects.bulk_create([many, few])
    assert "for good" not in admin_client.get(path).content.decode()
    sent = {**terms(account), "keep_last": "1", "archive_days": "30"}
    asked = admin_client.post(path, sent).content.decode()
    assert "At most 1,500 checkpoints of 1 workflow beyond the newest 1 and" in asked
    assert "0 checkpoints of 0 workflows in the archive for over 30 days would go" in asked
    assert Account.objects.filter(pk=account.pk, keep_last=None, archive_days=None).exists()
    told = "keep_last=1 archive_days=30"
    assert f'name="told" value="{told}"' in asked
    other = admin_client.post(path, {**sent, "archive_days": "1", "sure": "on", "told": told}).content.decode()
    assert "for over 1 days would go" in other
    assert admin_client.post(path, {**sent, "sure": "on", "told": told}).status_code == 302
    assert Account.objects.filter(pk=account.pk, keep_last=1, archive_days=30).exists()


def test_to_keep_more_is_not(admin_client: Client, account: Account):
    services.update_account(account, keep_last=5, archive_days=30)
    for name, value in (("keep_last", "6"), ("archive_days", "")):
        account.refresh_from_db()
        answer = admin_client.post(f"{ACCOUNTS}/{account.pk}/change_terms/", {**terms(account), name: value})
        assert answer.status_code == 302
    account.refresh_from_db()
    assert (account.keep_last, account.archive_days) == (6, None)


@pytest.mark.parametrize("group", ["support", "finance"])
def test_only_administrators_say_how_much_is_kept(member: Callable[[str], Client], account: Account, group: str):
    path, client = f"{ACCOUNTS}/{account.pk}/change_terms/", member(group)
    assert "Checkpoints kept" not in client.get(path).content.decode()
    client.post(path, {**terms(account), "plan": "pro", "keep_last": "1", "archive_days": "1", "sure": "on"})
    account.refresh_from_db()
    assert (account.plan, account.keep_last, account.archive_days) == ("pro", None, None)


def test_what_would_go_is_counted_without_what_has_terms_of_its_own(account: Account):
    old = timezone.now() - timedelta(days=3)
    common: dict[str, Any] = {"account": account, "head_step": 1, "total_checkpoints": 10}
    free = Workflow.objects.create(workflow_id="a", digest=b"a", **common)
    pinned = Workflow.objects.create(workflow_id="b", digest=b"b", pinned=True, **common)
    Workflow.objects.create(workflow_id="c", digest=b"c", keep_last=9, **common)
    numbers = ("generation", "first_sequence", "last_sequence", "first_step", "last_step", "raw_bytes", "stored_bytes")
    segment: dict[str, Any] = {**dict.fromkeys(numbers, 1), "count": 9, "sha256": b"x", "steps": b"", "created_at": old}
    for row in (free, pinned):
        ArchiveSegment.objects.create(workflow=row, key=f"{account.pk}/{row.pk}", **segment)
    assert beyond(account.pk, keep_last=4, archive_days=2) == [
        "6 checkpoints of 1 workflow beyond the newest 4",
        "9 checkpoints of 1 workflow in the archive for over 2 days",
    ]


@pytest.mark.parametrize("all_of_them", [True, False])
def test_to_try_again_closes_its_dialog(admin_client: Client, account: Account, all_of_them: bool):
    row = Workflow.objects.create(account=account, workflow_id="w", digest=b"w", head_step=1)
    problem = ArchiveProblem.objects.create(workflow=row, reason="gone")
    path = "retry_all/" if all_of_them else f"{problem.pk}/retry/"
    answer = admin_client.post(f"/admin/checkpoints/archiveproblem/{path}", {"_form_submitted": "1"}, headers=HTMX)
    assert (answer.status_code, answer["HX-Redirect"]) == (200, "/admin/checkpoints/archiveproblem/")
    assert "due at once" in admin_client.get(answer["HX-Redirect"]).content.decode()


@pytest.mark.parametrize("path", ["checkpoints/archiveproblem/retry_all/", "search/?s=a", "accounts/account/"])
def test_a_dialog_or_a_search_after_the_session_goes_to_sign_in_and_back(path: str):
    answer = Client(SERVER_NAME="localhost").get(f"/admin/{path}", headers=HTMX)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer["HX-Redirect"] == "/admin/login/?next=%2Fadmin%2Fcheckpoints%2Farchiveproblem%2F"
    assert Client(SERVER_NAME="localhost").get(f"/admin/{path}").status_code == 302


def test_a_header_that_htmx_would_not_send_breaks_nothing():
    headers = {"HX-Request": "true", "HX-Current-URL": "http://["}
    answer = Client(SERVER_NAME="localhost").get("/admin/", headers=headers)
    assert answer["HX-Redirect"] == "/admin/login/?next=%2Fadmin%2F"
    assert "no-store" in answer["Cache-Control"]


def test_nobody_asks_the_theme_to_complete_names(admin_client: Client):
    query = "app_label=accounts&model_name=account&field_name=keys&term=a"
    assert admin_client.get(f"/admin/autocomplete/?{query}").status_code == 404
