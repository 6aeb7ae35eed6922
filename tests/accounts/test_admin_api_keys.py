"""The Admin API of keys: issued once, listed without their secrets, revoked for good."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from accounts import keys, services
from accounts.models import Account, ApiKey
from snapstate_project.common.pagination import encode_cursor
from snapstate_project.common.times import iso
from tests.accounts.answers import paths_at_fault, refusal


def test_a_key_is_issued_and_shown_once(operator_api: httpx.Client, account: Account, connect: Any):
    answer = operator_api.post(f"/admin/accounts/{account.id}/keys")
    assert answer.status_code == 201
    body = answer.json()
    secret = body.pop("api_key")
    assert keys.is_well_formed(secret)
    assert body.pop("note")
    assert (body["key_prefix"], body["label"], body["expires_at"]) == (secret[:12], "", None)
    assert body["scopes"] == list(keys.SCOPES)
    assert body["account_id"] == str(account.id)
    [listed] = operator_api.get(f"/admin/accounts/{account.id}/keys").json()["keys"]
    assert listed == {**{k: v for k, v in body.items() if k != "account_id"}, "last_used_at": None, "revoked_at": None}
    assert not ApiKey.objects.filter(digest=secret).exists()
    assert connect(secret).get("/usage").status_code == 200


def test_a_key_is_issued_as_asked(operator_api: httpx.Client, account: Account):
    wanted = {
        "label": "nightly",
        "scopes": ["checkpoints:read", "checkpoints:write", "checkpoints:read"],
        "expires_at": "2099-01-01T01:00:00+01:00",
    }
    body = operator_api.post(f"/admin/accounts/{account.id}/keys", json=wanted).json()
    assert body["label"] == "nightly"
    assert body["scopes"] == ["checkpoints:write", "checkpoints:read"]
    assert body["expires_at"] == "2099-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("2099-01-01T00:00:00.123456789Z", "2099-01-01T00:00:00.123Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_key_expires_to_the_millisecond_however_finely_it_is_asked(
    operator_api: httpx.Client, account: Account, connect: Any, sent: str, kept: str
):
    body = operator_api.post(f"/admin/accounts/{account.id}/keys", json={"expires_at": sent}).json()
    assert body["expires_at"] == kept
    assert connect(body["api_key"]).get("/workflows", params={"updated_after": sent}).status_code == 200


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"scopes": "admin"}, "scopes"),
        ({"scopes": ["admin"]}, "scopes[0]"),
        ({"scopes": ["checkpoints:read", ["admin"]]}, "scopes[1]"),
        ({"scopes": None}, "scopes"),
        ({"label": "l" * 101}, "label"),
        ({"label": 1}, "label"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"expires_at": "2099-01-01T00:00:00"}, "expires_at"),
        ({"expires_at": "9999-12-31T23:59:59-23:59"}, "expires_at"),
        ({"expires_at": 4_070_908_800}, "expires_at"),
        ({"expires_at": iso(timezone.now() - timedelta(seconds=1))}, "expires_at"),
        ({"key": "mine"}, "key"),
        ([], "body"),
    ],
)
def test_a_key_is_not_issued_on_nonsense(operator_api: httpx.Client, account: Account, body: Any, path: str):
    assert paths_at_fault(operator_api.post(f"/admin/accounts/{account.id}/keys", json=body)) == [path]
    assert account.keys.count() == 0


def test_keys_are_listed_by_page_newest_first_and_neither_skipped_nor_repeated(
    operator_api: httpx.Client, account: Account
):
    issued = [str(services.issue_key(account)[0].pk) for _ in range(5)]
    at = timezone.now()
    account.keys.filter(pk__in=issued[1:4]).update(created_at=at)  # of one moment: then the id decides
    account.keys.filter(pk=issued[4]).update(created_at=at + timedelta(seconds=1))
    url, found, asked = f"/admin/accounts/{account.id}/keys", [], {"limit": "2"}
    for has_more in (True, True, False):
        page = operator_api.get(url, params=asked).json()
        assert (page["has_more"], page["next_cursor"] is not None) == (has_more, has_more)
        found += [key["id"] for key in page["keys"]]
        asked["cursor"] = page["next_cursor"]
        services.revoke_key(services.issue_key(account)[0])
    assert found == [issued[4], *sorted(issued[1:4], reverse=True), issued[0]]


def test_fifty_keys_are_listed_unless_more_are_asked_for(operator_api: httpx.Client, account: Account):
    for _ in range(51):
        services.revoke_key(services.issue_key(account)[0])
    url = f"/admin/accounts/{account.id}/keys"
    pages = [operator_api.get(url, params=asked).json() for asked in ({}, {"limit": 51}, {"limit": 200})]
    assert [(len(page["keys"]), page["has_more"]) for page in pages] == [(50, True), (51, False), (51, False)]


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "cursor=x", f"cursor={encode_cursor([7, 'x'])}", "page=1"])
def test_a_bad_query_for_keys_is_refused(operator_api: httpx.Client, account: Account, query: str):
    answer = operator_api.get(f"/admin/accounts/{account.id}/keys?{query}")
    assert paths_at_fault(answer) == [query.partition("=")[0]]


def test_the_tenth_key_is_issued_once_however_many_ask(operator_api: httpx.Client, account: Account):
    for _ in range(settings.MAX_API_KEYS_PER_ACCOUNT - 1):
        services.issue_key(account)
    url = f"/admin/accounts/{account.id}/keys"
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: operator_api.post(url), range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [400] * 7
    assert {refusal(answer) for answer in answers if answer.status_code == 400} == {(400, "MAX_KEYS_REACHED")}
    assert account.keys.count() == settings.MAX_API_KEYS_PER_ACCOUNT


def test_revoked_and_expired_keys_make_room(operator_api: httpx.Client, account: Account):
    issued = [services.issue_key(account)[0] for _ in range(settings.MAX_API_KEYS_PER_ACCOUNT)]
    services.revoke_key(issued[0])
    ApiKey.objects.filter(pk=issued[1].pk).update(expires_at=timezone.now())
    url = f"/admin/accounts/{account.id}/keys"
    assert [operator_api.post(url).status_code for _ in range(3)] == [201, 201, 400]


def test_a_closed_account_gets_no_keys(operator_api: httpx.Client, account: Account):
    services.update_account(account, status=Account.Status.CLOSED)
    assert refusal(operator_api.post(f"/admin/accounts/{account.id}/keys")) == (409, "CONFLICT")


def test_a_key_is_revoked_for_good(operator_api: httpx.Client, account: Account, api: httpx.Client):
    assert api.get("/usage").status_code == 200
    key = account.keys.get()
    answer = operator_api.delete(f"/admin/accounts/{account.id}/keys/{key.id}")
    assert (answer.status_code, answer.content) == (204, b"")
    key.refresh_from_db()
    assert operator_api.delete(f"/admin/accounts/{account.id}/keys/{key.id}").status_code == 204
    assert ApiKey.objects.get(pk=key.pk).revoked_at == key.revoked_at
    assert operator_api.get(f"/admin/accounts/{account.id}/keys").json()["keys"][0]["revoked_at"]


def test_a_key_of_another_account_is_not_there(operator_api: httpx.Client, account: Account, make_account: Any):
    theirs, _ = services.issue_key(make_account())
    answer = operator_api.delete(f"/admin/accounts/{account.id}/keys/{theirs.id}")
    assert refusal(answer) == (404, "NOT_FOUND")
    theirs.refresh_from_db()
    assert theirs.revoked_at is None
