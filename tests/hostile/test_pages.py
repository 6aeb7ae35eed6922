"""Hostile inputs, the operators' pages: whatever stands in their addresses, none of them breaks."""

from collections.abc import Callable
from urllib.parse import quote

import httpx
import pytest
from django.test import Client

from accounts.models import Account
from checkpoints.models import Workflow
from tests.hostile.reading import save, saved

NASTY = ["\x00", "\u00b2", "9" * 30, "'\\%{}<b>"]
LISTS = ["accounts/account", "accounts/apikey", "agents/agent", "auth/user", "billing/usagerecord",
         "checkpoints/workflow", "checkpoints/archivesegment", "events/event", "events/subscribercursor",
         "webhooks/delivery", "webhooks/endpoint"]  # fmt: skip


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text)[:20])
@pytest.mark.parametrize("listed", LISTS)
def test_no_search_and_no_id_breaks_a_page(admin_client: Client, listed: str, text: str) -> None:
    for path in (
        f"?q={quote(text)}",
        f"?p={quote(text)}",
        f"?nonsense={quote(text)}",
        f"{quote(text, safe='')}/change/",
    ):
        assert admin_client.get(f"/admin/{listed}/{path}").status_code in (200, 302, 400, 404)


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text)[:20])
def test_no_filter_breaks_the_pages_of_workflows(
    admin_client: Client, api: httpx.Client, account: Account, intake: Callable[[], None], wf: str, text: str
) -> None:
    saved(save(api, wf, 1))
    intake()
    page = f"/admin/checkpoints/workflow/{Workflow.objects.get(workflow_id=wf).pk}/change/"
    assert wf in admin_client.get(page).content.decode()
    paths = [f"{page}?before={quote(text)}", f"/admin/search/?s={quote(text)}"]
    paths += [f"/admin/checkpoints/workflow/?{name}={quote(text)}" for name in ("account", "agent", "label", "status")]
    assert {admin_client.get(path).status_code for path in paths} <= {200, 302, 400}
