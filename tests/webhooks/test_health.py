"""What attempts say of their endpoint as it is now, in whichever order they come back."""

from datetime import timedelta

import pytest

from snapstate_project.dev.process import wait_until
from tests.events.steps import at_once
from tests.webhooks.receiver import Answering
from tests.webhooks.steps import deliver, deliveries, delivery, endpoint, happened, queue, saved

SOON, AFTER_A_RETRY = timedelta(seconds=30), timedelta(minutes=1)


def health(hook):
    row = endpoint(hook)
    return row.status, row.failing_since


def codes(hook):
    return [[attempt["status_code"] for attempt in each.attempts] for each in deliveries(hook)]


def deliver_and_meanwhile(to, act):
    """Does something while the receiver has the first attempt and has not answered yet."""
    at_once(lambda: deliver(SOON), lambda: (wait_until(lambda: bool(to.got), seconds=10), act()))


def happens(account, step):
    happened(account, saved(step=step))
    queue()


@pytest.mark.parametrize("code", [500, 410])
def test_a_failure_of_the_old_url_says_nothing_of_the_new(api, account, hook, receiver, code):
    old, new = receiver(Answering(code, after=1.0)), receiver(200)
    registered = hook(old.url)
    happens(account, 1)
    deliver_and_meanwhile(old, lambda: api.patch(f"/webhooks/{registered['webhook_id']}", json={"url": new.url}))
    assert (codes(registered), health(registered)) == ([[code]], ("active", None))
    deliver(AFTER_A_RETRY)
    assert (codes(registered), delivery(registered).status, len(new.got)) == ([[code, 200]], "delivered", 1)


def test_a_success_of_the_old_url_does_not_end_a_failing_time_of_the_new(api, account, hook, receiver):
    old, new = receiver(Answering(200, after=2.0)), receiver(500)
    registered = hook(old.url)
    happens(account, 1)

    def move():
        api.patch(f"/webhooks/{registered['webhook_id']}", json={"url": new.url})
        happens(account, 2)

    deliver_and_meanwhile(old, move)
    assert codes(registered) == [[200], [500]]
    assert endpoint(registered).failing_since is not None


@pytest.mark.parametrize("code", [500, 410])
def test_an_older_failure_says_nothing_after_a_newer_success(account, hook, receiver, code):
    to = receiver(Answering(code, after=2.0), 200)
    registered = hook(to.url)
    happens(account, 1)
    deliver_and_meanwhile(to, lambda: happens(account, 2))
    assert (codes(registered), health(registered)) == ([[code], [200]], ("active", None))
    deliver(timedelta(hours=1))
    assert codes(registered) == [[code, 200], [200]]


def test_sent_again_with_success_it_is_not_failing_when_the_first_attempt_fails(api, account, hook, receiver):
    to = receiver(Answering(500, after=2.0), 200)
    registered = hook(to.url)
    happens(account, 1)
    path = f"/webhooks/{registered['webhook_id']}/deliveries/{delivery(registered).delivery_id}/resend"
    deliver_and_meanwhile(to, lambda: api.post(path))
    assert (codes(registered), health(registered)) == ([[200, 500]], ("active", None))


def test_a_newer_failure_begins_a_failing_time_after_an_older_success(account, hook, receiver):
    registered = hook(receiver(200, 500).url)
    happens(account, 1)
    deliver(SOON)
    happens(account, 2)
    deliver(SOON)
    assert codes(registered) == [[200], [500]]
    assert endpoint(registered).failing_since is not None
