"""An account has one customer at Stripe, however often and from wherever it is made."""

from accounts.models import Account
from accounts.services import update_account
from billing.stripe_sync import make_customer, make_customers, sync_stripe
from tests.billing.fake_stripe import refused
from tests.events.steps import at_once


def customers_of(fake, account):
    return [
        each["id"] for each in fake.customers.values() if each["metadata"]["snapstate_account_id"] == str(account.id)
    ]


def test_an_account_gets_a_customer_that_names_it(account, fake):
    made = make_customer(account)
    account.refresh_from_db()
    assert account.stripe_customer_id == made
    assert fake.customers[made]["email"] == account.email
    assert customers_of(fake, account) == [made]


def test_a_customer_made_and_not_written_down_is_found_again(account, fake):
    made = make_customer(account)
    Account.objects.filter(pk=account.pk).update(stripe_customer_id=None)
    fake.by_key.clear()  # Stripe forgets idempotency keys after a day
    assert make_customer(account) == made
    assert customers_of(fake, account) == [made]


def test_racing_passes_make_one_customer(account, fake):
    at_once(*[lambda: make_customer(account)] * 5)
    assert len(customers_of(fake, account)) == 1


def test_a_pass_makes_a_customer_for_each_account_but_closed_ones(account, make_account, fake):
    closed = update_account(make_account(), status="closed")
    make_customers()
    assert (len(customers_of(fake, account)), customers_of(fake, closed)) == (1, [])


def test_an_account_that_stripe_will_not_have_is_in_nobodys_way(make_account, fake):
    make_customers()
    odd, usual = make_account(), make_account()
    fake.fail = [refused("Invalid email address")]
    assert make_customers() == 1
    assert (customers_of(fake, odd), len(customers_of(fake, usual))) == ([], 1)


def test_a_failing_stripe_ends_the_pass(account, fake):
    fake.fail = [(503, {"error": {"message": "Oh."}})] * 3
    assert make_customers() == 0
    assert len(fake.fail) == 2


def test_without_a_secret_key_nobody_is_asked(account, fake, monkeypatch):
    monkeypatch.setattr("django.conf.settings.STRIPE_SECRET_KEY", "")
    done = sync_stripe()
    assert (done.customers, done.noted, done.sent) == (0, 0, 0)
    assert fake.posts.total() == 0
