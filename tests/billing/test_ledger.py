"""What is billable is told to Stripe once: the sum of the meter events is the sum of the ledger, whatever happens."""

import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from billing.errors import ReportSettled
from billing.meter_reports import mark_counted, note_billable, send_again, send_waiting
from billing.models import MeterReport
from tests.billing.fake_stripe import refused
from tests.billing.steps import THIS_MONTH, ledger, rows, told, use
from tests.events.steps import at_once

WRITES = "snapstate_checkpoint_writes"


def test_what_is_free_is_not_told(account, customer, fake):
    use(account, checkpoint_writes=10_000, resume_calls=5_000, replay_calls=1_000)
    told()
    assert (rows(account, "id"), fake.meter_events) == ([], {})


def test_units_are_told_as_they_grow(account, customer, fake):
    for writes in (10_001, 10_001, 10_400, 12_000):
        use(account, checkpoint_writes=writes)
        told()
    assert rows(account, "start", "units", "state") == [(0, 1, "sent"), (1, 399, "sent"), (400, 1_600, "sent")]
    assert fake.summed(customer, WRITES) == ledger(account) == 2_000


def test_each_meter_is_told_under_its_own_name(account, customer, fake):
    use(account, checkpoint_writes=10_003, resume_calls=5_007, replay_calls=1_001)
    told()
    names = ("snapstate_checkpoint_writes", "snapstate_resume_calls", "snapstate_replay_calls")
    assert [fake.summed(customer, name) for name in names] == [3, 7, 1]


def test_identifiers_are_made_of_what_they_stand_for(account, customer, fake):
    use(account, checkpoint_writes=10_500)
    told()
    assert list(fake.meter_events) == [f"{account.id.hex}-{THIS_MONTH:%Y%m}-checkpoint_writes-0-500"]


def test_double_and_parallel_runs_count_once(account, customer, fake):
    for writes in range(10_100, 11_001, 100):
        use(account, checkpoint_writes=writes)
        at_once(*[told] * 4)
    told()
    assert fake.summed(customer, WRITES) == ledger(account, state="sent") == 1_000


@pytest.mark.parametrize("code", [None, "duplicate_meter_event"])
def test_a_repeat_counts_as_success(account, customer, fake, code):
    use(account, checkpoint_writes=10_500)
    fake.hang_up = True
    assert told() == 0
    fake.hang_up = False
    if code:
        fake.fail = [(400, {"error": {"type": "invalid_request_error", "code": code, "message": "Known."}})]
    assert told() == 1
    assert rows(account, "state", "attempts") == [("sent", 2)]
    assert fake.summed(customer, WRITES) == 500


def test_a_send_in_doubt_is_repeated_for_a_day_and_then_left_to_operators(account, customer, fake):
    start = timezone.now()
    use(account, checkpoint_writes=10_500)
    fake.hang_up = True
    for hours in (0, 12, 23):
        assert told(start + timedelta(hours=hours)) == 0
    [(attempts,)] = rows(account, "attempts")  # what else is due, as at a month's end, may have ended a pass before it
    for hours in (24, 25, 500):
        send_waiting(now=start + timedelta(hours=hours))
    assert rows(account, "state", "units", "attempts") == [("doubtful", 500, attempts)]
    assert fake.summed(customer, WRITES) == 500


def test_units_in_doubt_are_not_told_in_another_row(account, customer, fake):
    use(account, checkpoint_writes=10_500)
    fake.hang_up = True
    told()
    fake.hang_up = False
    MeterReport.objects.filter(account=account).update(state="doubtful")
    use(account, checkpoint_writes=10_700)
    told()
    assert rows(account, "start", "units", "state") == [(0, 500, "doubtful"), (500, 200, "sent")]


def test_what_comes_while_a_row_waits_for_its_turn_goes_into_one_row_after_it(account, customer, fake):
    for writes in (10_001, 10_100, 10_500):
        use(account, checkpoint_writes=writes)
        note_billable()
    assert rows(account, "start", "units", "state") == [(0, 1, "waiting")]
    send_waiting()
    told()
    assert rows(account, "start", "units", "state") == [(0, 1, "sent"), (1, 499, "sent")]
    assert fake.summed(customer, WRITES) == 500


@pytest.mark.parametrize("status", [401, 403, 409, 429])
def test_what_stripe_did_not_count_is_not_in_doubt(account, customer, fake, status):
    use(account, checkpoint_writes=10_500)
    fake.fail = [(status, {"error": {"type": "api_error", "message": "Not now."}})]
    told()
    assert rows(account, "state", "in_doubt_since") == [("waiting", None)]
    assert told(timezone.now() + timedelta(days=3)) == 1


def test_an_outage_of_days_leaves_nothing_in_doubt(account, customer, fake, monkeypatch):
    use(account, checkpoint_writes=10_500)
    monkeypatch.setattr("django.conf.settings.STRIPE_API_BASE", "http://127.0.0.1:1")
    told()
    assert rows(account, "state", "in_doubt_since") == [("waiting", None)]
    monkeypatch.setattr("django.conf.settings.STRIPE_API_BASE", fake.url)
    assert told(timezone.now() + timedelta(days=3)) == 1


@pytest.mark.parametrize("status", [500, 503])
def test_a_fault_of_stripes_leaves_it_in_doubt(account, customer, fake, status):
    use(account, checkpoint_writes=10_500)
    fake.fail = [(status, {"error": {"type": "api_error", "message": "Oh."}})]
    told()
    ((state, since),) = rows(account, "state", "in_doubt_since")
    assert (state, since is not None) == ("waiting", True)


def test_a_refusal_is_shown_and_not_repeated_by_itself(account, customer, fake):
    use(account, checkpoint_writes=10_500)
    fake.fail = [refused("No active meter found")]
    told()
    told()
    ((state, error, attempts),) = rows(account, "state", "error", "attempts")
    assert (state, attempts) == ("refused", 1)
    assert "No active meter found" in error


def test_a_refusal_after_a_send_in_doubt_settles_nothing(account, customer, fake):
    use(account, checkpoint_writes=10_500)
    fake.hang_up = True
    told()
    fake.hang_up, fake.fail = False, [refused("No active meter found")]
    told()
    ((state, since),) = rows(account, "state", "in_doubt_since")
    assert (state, since is not None) == ("waiting", True)


def test_what_came_late_is_booked_within_its_month(account, customer, fake):
    last = (datetime.combine(THIS_MONTH, datetime.min.time(), UTC) - timedelta(days=1)).date().replace(day=1)
    use(account, last, checkpoint_writes=10_003)
    told()
    (event,) = fake.meter_events.values()
    booked = datetime.fromtimestamp(int(event["timestamp"]), UTC)
    assert booked == datetime.combine(THIS_MONTH, datetime.min.time(), UTC) - timedelta(seconds=1)


def test_an_account_without_a_customer_waits(account, fake):
    use(account, checkpoint_writes=10_500)
    told()
    assert rows(account, "id") == []


def test_the_month_before_last_is_not_told_any_more(account, customer, fake):
    use(account, date(2020, 1, 1), checkpoint_writes=10_500)
    told()
    assert rows(account, "id") == []


def test_a_process_killed_after_the_send_leaves_nothing_double_and_nothing_out(account, customer, fake):
    use(account, checkpoint_writes=10_500, resume_calls=5_020)
    fake.hold = True
    process = syncing(fake)
    assert fake.counted.wait(60)
    process.kill()
    process.wait()
    fake.hold = False
    assert [state for (state,) in rows(account, "state")] == ["waiting", "waiting"]
    use(account, checkpoint_writes=10_900, resume_calls=5_020)
    told()
    assert fake.summed(customer, WRITES) == ledger(account, state="sent") == 900
    assert fake.summed(customer, "snapstate_resume_calls") == ledger(account, "resume_calls", state="sent") == 20


def test_processes_at_once_count_once(account, customer, fake):
    use(account, checkpoint_writes=10_500)
    processes = [syncing(fake) for _ in range(2)]
    assert [process.wait(60) for process in processes] == [0, 0]
    told()
    assert fake.summed(customer, WRITES) == ledger(account, state="sent") == 500


def syncing(fake):
    """A process that tells Stripe what there is to tell."""
    env = {**os.environ, "STRIPE_SECRET_KEY": "sk_test_of-the-tests", "STRIPE_API_BASE": fake.url}
    return subprocess.Popen([sys.executable, "-m", "tests.billing.syncer"], env=env)


# --- What operators may say ---


def test_a_refused_report_is_sent_again_by_an_operator(account, customer, fake):
    use(account, checkpoint_writes=10_500)
    fake.fail = [refused("No active meter found")]
    told()
    send_again(MeterReport.objects.get(account=account))
    told()
    assert rows(account, "state") == [("sent",)]
    assert fake.summed(customer, WRITES) == 500
    with pytest.raises(ReportSettled):
        send_again(MeterReport.objects.get(account=account))


def test_a_doubtful_report_is_settled_by_an_operator_and_never_sent(account, customer, fake):
    use(account, checkpoint_writes=10_500)
    note_billable()
    MeterReport.objects.filter(account=account).update(state="doubtful")
    row = MeterReport.objects.get(account=account)
    with pytest.raises(ReportSettled):
        send_again(row)
    mark_counted(row)
    assert told() == 0
    assert rows(account, "state") == [("sent",)]
