"""A wrong setting of billing's stops `manage.py check`; Stripe without its webhook is warned of."""

import pytest
from django.conf import settings
from django.core.checks import run_checks


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STORAGE_HELD", "checkpoints.services.nothing"),
        ("STORAGE_HELD_BY_ACCOUNT", "nowhere.nothing"),
        ("STRIPE_API_BASE", "api.stripe.com"),
        ("STRIPE_API_BASE", "ftp://api.stripe.com"),
    ],
)
def test_a_wrong_setting_is_found(monkeypatch, name, value):
    monkeypatch.setattr(settings, name, value)
    assert [message.id for message in run_checks() if message.is_serious()] == [f"billing.{name.lower()}"]


def test_stripe_without_its_webhook_is_warned_of(monkeypatch):
    monkeypatch.setattr(settings, "STRIPE_SECRET_KEY", "sk_test_of-the-tests")
    assert [message.id for message in run_checks()] == ["billing.stripe_webhook_secret"]
