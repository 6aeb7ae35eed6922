"""A wrong setting stops `manage.py check`; the operators' groups hold what their names say."""

from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.core.checks import run_checks
from django.core.management import call_command

from accounts.roles import MONEY, ROLES


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RATE_LIMIT_MAX", 0),
        ("RATE_LIMIT_WINDOW_MS", 999),
        ("MAX_API_KEYS_PER_ACCOUNT", 0),
        ("API_KEY_PREFIX", ""),
        ("API_KEY_PREFIX", "snp "),
        ("API_KEY_PREFIX", "a" * 13),
        ("ACCOUNT_USAGE", "billing.usage.nothing"),
    ],
)
def test_a_wrong_setting_is_found(monkeypatch: pytest.MonkeyPatch, name: str, value: Any):
    monkeypatch.setattr(settings, name, value)
    assert f"accounts.{name.lower()}" in [message.id for message in run_checks()]


def test_the_settings_as_they_are_pass():
    assert run_checks() == []


def permissions_of(name: str) -> set[str]:
    permissions = Group.objects.get(name=name).permissions.values_list("content_type__app_label", "codename")
    return {f"{app}.{codename}" for app, codename in permissions}


def test_groups_may_do_what_their_names_say():
    viewers, support, finance, administrators = map(permissions_of, ROLES)
    assert viewers >= {"accounts.view_account", "checkpoints.view_workflow", "events.view_event"}
    assert all(".view_" in permission for permission in viewers)
    assert support - viewers >= {"accounts.add_account", "accounts.change_apikey", "webhooks.resend_delivery"}
    assert finance - viewers >= {"accounts.view_revenue", "billing.view_invoice", "billing.settle_meterreport"}
    assert not (viewers | support) & MONEY
    assert not (viewers | support | finance) & {"accounts.close_account", "auth.view_user", "auditlog.view_logentry"}
    assert administrators > support | finance
    assert {"auth.add_user", "auth.change_group", "accounts.close_account"} <= administrators


def test_what_a_group_must_not_goes_with_the_next_migration():
    """As a group may have it from an older version."""
    viewers = Group.objects.get(name="viewers")
    viewers.permissions.add(Permission.objects.get(codename="view_invoice"))
    call_command("migrate", verbosity=0)
    assert "billing.view_invoice" not in permissions_of("viewers")


def test_a_permission_taken_from_a_group_comes_back_with_the_next_migration():
    Group.objects.get(name="viewers").permissions.clear()
    call_command("migrate", verbosity=0)
    assert "accounts.view_account" in permissions_of("viewers")
