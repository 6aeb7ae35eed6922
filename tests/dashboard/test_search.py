"""The search that the menu opens knows the menu's words, and takes quotes for what they are."""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.utils.text import capfirst

from accounts import services
from accounts.models import Account
from snapstate_project.dashboard import SIDEBAR

NAMES = {apps.get_model(label): name for part in SIDEBAR.values() for label, (name, _) in part.items()}
USERS, LOG = "/admin/auth/user/", "/admin/auditlog/logentry/"


def search(client: Client, term: str) -> str:
    return client.get(f"/admin/search/?s={quote(term)}").content.decode()


def test_a_page_is_called_what_the_menu_calls_it():
    assert {model: capfirst(model._meta.verbose_name_plural) for model in admin.site._registry} == NAMES


@pytest.mark.parametrize("page", sorted(set(NAMES.values())))
def test_every_page_is_found_by_its_name_in_the_menu(admin_client: Client, page: str):
    assert f'data-title="{page}"' in search(admin_client, page.upper())


def test_all_of_a_part_or_of_a_room_is_found_by_the_name_of_that(admin_client: Client):
    assert f'href="{LOG}"' in search(admin_client, "operators")
    assert '/admin/checkpoints/archivesegment/"' in search(admin_client, "checkpoints")
    assert '/admin/system/"' in search(admin_client, "system")


@pytest.mark.parametrize("term", ["operators", "audit", "invoices", "system"])
def test_what_an_operator_may_not_open_is_not_found(member: Callable[[str], Client], term: str):
    found = search(member("viewers"), term)
    assert ("href=" in found) is (term == "system")


@pytest.mark.parametrize("term", ["'", '"', "''", '""', "\"'", "' '", '" "', "\\"])
def test_quotes_alone_find_what_has_them_in_its_name(
    admin_client: Client, make_account: Callable[[], Account], term: str
):
    plain, named = make_account(), make_account()
    key, _ = services.issue_key(plain, label="plain")
    Account.objects.filter(pk=named.pk).update(email=f"{term}{named.email}")
    for found in (search(admin_client, term), admin_client.get("/admin/accounts/account/", {"q": term}).text):
        assert [f"/account/{each.pk}/" in found for each in (plain, named)] == [False, True]
    assert f"/apikey/{key.pk}/" not in search(admin_client, term)
    assert f"{USERS}{User.objects.latest('pk').pk}/" not in admin_client.get(USERS, {"q": term}).text


def test_what_stands_in_quotes_is_found_as_a_whole(admin_client: Client, account: Account):
    assert account.email in search(admin_client, f'"{account.email}"')
    assert account.email not in search(admin_client, f'"{account.email} "')
