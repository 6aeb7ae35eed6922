"""The operators' pages: success, bodies and attempts for everybody; switching and sending again by permission."""

import re
import uuid
from datetime import timedelta

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from tests.webhooks.receiver import Answering
from tests.webhooks.steps import deliver, deliveries, delivery, endpoint, happened, queue, saved
from webhooks.models import Delivery, Endpoint

ENDPOINTS, DELIVERIES = "/admin/webhooks/endpoint/", "/admin/webhooks/delivery/"


@pytest.fixture
def as_one_of():
    """The session of an operator of this group."""

    def sign_in(group):
        user = User.objects.create_user(uuid.uuid4().hex, is_staff=True)
        user.groups.add(Group.objects.get(name=group))
        client = Client(SERVER_NAME="localhost")
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def tried(account, hook, receiver):
    """A webhook with one delivery done and one that failed, and what receives them."""
    to = receiver(200, Answering(500, body=b"<b>no</b>"))
    registered = hook(to.url)
    for step in (1, 2):
        happened(account, saved("<i>shown</i>", step))
        queue()
        deliver()
    return registered, to


@pytest.mark.parametrize("group", ["viewers", "support", "administrators"])
def test_every_operator_sees_how_it_goes_and_no_secret(as_one_of, tried, group):
    registered, client = tried[0], as_one_of(group)
    listed = client.get(ENDPOINTS, {"q": registered["webhook_id"]}).text
    assert "100 % of the last 1" in listed
    page = client.get(f"{ENDPOINTS}{endpoint(registered).pk}/change/").text
    assert registered["url"] in page
    assert registered["secret"] not in page + listed
    shown = client.get(f"{DELIVERIES}{deliveries(registered)[1].pk}/change/").text
    assert "&lt;b&gt;no&lt;/b&gt;" in shown
    assert "&lt;i&gt;shown&lt;/i&gt;" in shown


@pytest.mark.parametrize("query", ["webhook_id", "account", "nothing"])
def test_deliveries_are_found_by_webhook_and_account(admin_client, account, tried, query):
    term = {"webhook_id": tried[0]["webhook_id"], "account": str(account.id), "nothing": "wh_x"}[query]
    page = admin_client.get(DELIVERIES, {"q": term}).text
    found = [each.delivery_id[:16] in page for each in deliveries(tried[0])]
    assert found == [query != "nothing"] * 2


def test_deliveries_are_filtered_by_status(admin_client, tried):
    done, waiting = deliveries(tried[0])
    page = admin_client.get(DELIVERIES, {"status": "pending"}).text
    assert (waiting.delivery_id[:16] in page, done.delivery_id[:16] in page) == (True, False)


def test_a_webhook_leads_to_its_deliveries(admin_client, tried):
    answer = admin_client.get(f"{ENDPOINTS}{endpoint(tried[0]).pk}/see_deliveries/")
    assert answer["Location"] == f"{DELIVERIES}?q={tried[0]['webhook_id']}"


@pytest.mark.parametrize("group", ["support", "administrators"])
def test_who_helps_customers_disables_with_a_reason_and_enables(as_one_of, api, tried, group):
    client, pk = as_one_of(group), endpoint(tried[0]).pk
    assert "Nothing more is sent" in client.get(f"{ENDPOINTS}{pk}/disable/").text
    client.post(f"{ENDPOINTS}{pk}/disable/", {"confirmed": "yes"})
    assert endpoint(tried[0]).status == "active"
    client.post(f"{ENDPOINTS}{pk}/disable/", {"confirmed": "yes", "reason": "it answers 500"})
    assert endpoint(tried[0]).disabled_reason == "by an operator: it answers 500"
    client.post(ENDPOINTS, {"action": "enable_selected", "_selected_action": str(pk), "confirmed": "yes"})
    assert (endpoint(tried[0]).status, endpoint(tried[0]).disabled_reason) == ("active", "")
    chosen = {"action": "disable_selected", "_selected_action": str(pk), "confirmed": "yes", "reason": "again"}
    client.post(ENDPOINTS, chosen)
    assert endpoint(tried[0]).status == "disabled"
    assert "Disabled" in client.get(f"{ENDPOINTS}{pk}/history/").text


def test_a_switch_stands_in_the_audit_log_with_before_and_after(as_one_of, tried):
    row = endpoint(tried[0])
    as_one_of("support").post(f"{ENDPOINTS}{row.pk}/disable/", {"confirmed": "yes", "reason": "r"})
    changed = [entry.changes for entry in LogEntry.objects.get_for_object(row)]
    assert {"status": ["active", "disabled"], "disabled_reason": ["", "by an operator: r"]} in changed


def window(since, until, **more):
    return {"since": f"{since:%Y-%m-%dT%H:%M}", "until": f"{until:%Y-%m-%dT%H:%M}", **more}


def test_a_window_of_time_is_sent_again(as_one_of, account, tried):
    registered = tried[0]
    Delivery.objects.filter(pk=deliveries(registered)[1].pk).update(status="failed", next_attempt_at=None)
    client, path, now = as_one_of("support"), f"{ENDPOINTS}{endpoint(registered).pk}/resend_since/", timezone.now()
    client.post(path, window(now - timedelta(hours=2), now - timedelta(hours=1), failed_only="on"))
    assert deliver() == 0
    answer = client.post(
        path, window(now - timedelta(hours=1), now + timedelta(hours=1), failed_only="on"), follow=True
    )
    assert ("1 delivery." in answer.text, deliver()) == (True, 1)
    client.post(path, window(now - timedelta(hours=1), now + timedelta(hours=1)))
    assert deliver() == 1
    assert "Sent again: 1 delivery, " in client.get(f"{ENDPOINTS}{endpoint(registered).pk}/history/").text


@pytest.mark.parametrize("form", [{}, {"since": "2026-01-02T10:00", "until": "2026-01-01T10:00"}, {"since": "x"}])
def test_a_window_that_is_none_is_said_to_be(as_one_of, tried, form):
    answer = as_one_of("support").post(f"{ENDPOINTS}{endpoint(tried[0]).pk}/resend_since/", form)
    assert (answer.status_code, deliver()) == (200, 0)


def test_an_administrator_sends_one_again_or_many(as_one_of, tried):
    client, (done, waiting) = as_one_of("administrators"), deliveries(tried[0])
    client.post(f"{DELIVERIES}{done.pk}/resend/", {"confirmed": "yes"})
    assert deliver() == 1
    chosen = [str(done.pk), str(waiting.pk)]
    client.post(DELIVERIES, {"action": "resend_selected", "_selected_action": chosen, "confirmed": "yes"})
    assert deliver() == 2
    assert len({got.headers["webhook-id"] for got in tried[1].got}) == 2


@pytest.mark.parametrize("group", ["viewers", "finance"])
def test_nobody_else_changes_anything(as_one_of, tried, group):
    client, pk, (done, _) = as_one_of(group), endpoint(tried[0]).pk, deliveries(tried[0])
    for path in (f"{ENDPOINTS}{pk}/disable/", f"{ENDPOINTS}{pk}/resend_since/", f"{DELIVERIES}{done.pk}/resend/"):
        assert client.post(path, {"confirmed": "yes"}).status_code == 403
    client.post(ENDPOINTS, {"action": "disable_selected", "_selected_action": str(pk), "confirmed": "yes"})
    client.post(DELIVERIES, {"action": "resend_selected", "_selected_action": str(done.pk), "confirmed": "yes"})
    assert (endpoint(tried[0]).status, deliver()) == ("active", 0)


def test_what_is_disabled_is_not_sent_again(admin_client, api, tried):
    api.patch(f"/webhooks/{tried[0]['webhook_id']}", json={"status": "disabled"})
    path = f"{DELIVERIES}{deliveries(tried[0])[0].pk}/resend/"
    answer = admin_client.post(path, {"confirmed": "yes"}, follow=True)
    assert "This webhook is disabled" in answer.text


def test_deleted_webhooks_are_not_shown(admin_client, api, hook):
    registered = hook("https://hooks.example.com")
    api.delete(f"/webhooks/{registered['webhook_id']}")
    assert registered["webhook_id"] not in admin_client.get(ENDPOINTS).text
    assert admin_client.get("/admin/").text.count("/admin/webhooks/") >= 2


def test_a_delivery_not_tried_yet_says_so(admin_client, account, hook):
    registered = hook("https://hooks.example.com")
    happened(account, saved())
    queue()
    assert "Not tried yet" in admin_client.get(f"{DELIVERIES}{delivery(registered).pk}/change/").text


@pytest.mark.parametrize(("slow", "said"), [(True, "Yes: its last attempt took long"), (False, "No")])
def test_a_page_says_in_words_whether_a_webhook_is_slow(admin_client, hook, slow, said):
    registered = hook("https://hooks.example.com")
    Endpoint.objects.filter(pk=endpoint(registered).pk).update(slow=slow)
    page = admin_client.get(f"{ENDPOINTS}{endpoint(registered).pk}/change/").text
    assert re.search(rf">\s*Slow\s*(<[^>]*>\s*)+{said}", page)
    assert ("took long" in page) is slow


def test_a_list_has_an_error_by_its_kind_and_says_the_rest_in_the_title(admin_client, tried):
    waiting = deliveries(tried[0])[1]
    error = {"at": "2026-11-30 11:00", "status_code": None, "error": "gaierror: [Errno -2] Name or service not known"}
    Delivery.objects.filter(pk=waiting.pk).update(attempts=[{**error, "duration_ms": 1, "response": ""}])
    page = admin_client.get(DELIVERIES, {"q": tried[0]["webhook_id"]}).text
    assert f'<span title="{error["error"]}">gaierror</span>' in page
