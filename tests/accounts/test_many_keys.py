"""An account that has rotated its keys for years: its page shows those that count, and leads to the rest."""

import re
import uuid

import pytest
from django.test import Client
from django.utils import timezone

from accounts import services
from accounts.models import Account, ApiKey

REVOKED = 3_000


@pytest.fixture
def kept(account: Account) -> ApiKey:
    """A key in use that is older than all that were revoked since."""
    key, _ = services.issue_key(account, label="the one that is in use")
    rows = [
        ApiKey(account=account, digest=uuid.uuid4().hex, prefix=f"snp_{n:08}", revoked_at=timezone.now())
        for n in range(REVOKED)
    ]
    ApiKey.objects.bulk_create(rows)
    return key


def test_the_page_of_its_account_shows_those_in_use_first(admin_client: Client, kept: ApiKey):
    page = admin_client.get(f"/admin/accounts/account/{kept.account_id}/change/").content.decode()
    shown = re.findall(r"snp_[0-9a-f]{8}…", page)
    assert shown[0] == str(kept)
    assert len(set(shown)) == 50
    assert f"1 in use, {REVOKED + 1:,} in all" in page


def test_the_page_leads_to_a_list_of_all(admin_client: Client, kept: ApiKey):
    path = f"/admin/accounts/apikey/?q={kept.account_id}"
    assert path in admin_client.get(f"/admin/accounts/account/{kept.account_id}/change/").content.decode()
    assert f"{REVOKED + 1}" in admin_client.get(path).content.decode().replace(",", "")
