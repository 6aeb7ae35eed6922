"""The Admin API of accounts and keys: every route, and every way to use it wrongly."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.conf import settings

from accounts import services
from accounts.models import Account
from snapstate_project.common.times import iso
from tests.accounts.answers import paths_at_fault, refusal

NOWHERE = uuid.UUID("00000000-0000-4000-8000-000000000000")
FIELDS = {"id", "email", "name", "plan", "status", "stripe_customer_id", "created_at", "updated_at"}


def new_email() -> str:
    return f"{uuid.uuid4().hex}@example.com"


def test_an_account_is_created_with_its_email_in_lower_case(operator_api: httpx.Client):
    email = new_email()
    answer = operator_api.post("/admin/accounts", json={"email": f" {email.upper()}", "name": "Acme"})
    assert answer.status_code == 201
    body = answer.json()
    assert set(body) == FIELDS
    assert (body["email"], body["name"], body["plan"], body["status"]) == (email, "Acme", "free", "active")
    assert len(body["created_at"]) == len("2026-11-29T18:33:11.123Z")
    assert body["stripe_customer_id"] is None


def test_an_email_is_taken_whatever_its_case(operator_api: httpx.Client):
    email = new_email()
    assert operator_api.post("/admin/accounts", json={"email": email}).status_code == 201
    answer = operator_api.post("/admin/accounts", json={"email": email.title()})
    assert refusal(answer) == (409, "CONFLICT")


def test_racing_sign_ups_make_one_account(operator_api: httpx.Client):
    email = new_email()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: operator_api.post("/admin/accounts", json={"email": email}), range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "email"),
        ({"email": ""}, "email"),
        ({"email": "nobody"}, "email"),
        ({"email": None}, "email"),
        ({"email": 7}, "email"),
        ({"email": "a" * 250 + "@example.com"}, "email"),
        *(({"email": f"{name}@ex.com"}, "email") for name in ("İ" * 127, "İ", "\u212aelvin", "\u017fam", "é")),
        ({"email": f"a@{'İİİİİİİİİİ.' * 22}com"}, "email"),
        ({"email": "a@example.com", "name": 7}, "name"),
        ({"email": "a@example.com", "name": "n" * 201}, "name"),
        ({"email": "a@example.com", "name": "a\x00b"}, "name"),
        ({"email": "a@example.com", "plan": "gold"}, "plan"),
        ([], "body"),
        ("a@example.com", "body"),
    ],
)
def test_an_account_needs_a_proper_email_and_nothing_unknown(operator_api: httpx.Client, body: Any, path: str):
    assert paths_at_fault(operator_api.post("/admin/accounts", json=body)) == [path]


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe{}", b'{"email": NaN}', b"[" * 100_000, b'{"email": "\\ud83d"}'])
def test_a_body_that_is_no_json_is_a_400(operator_api: httpx.Client, body: bytes):
    answer = operator_api.post("/admin/accounts", content=body, headers={"Content-Type": "application/json"})
    assert paths_at_fault(answer) == ["body"]
    assert answer.json()["error"]["message"].startswith("body: is not JSON that can be read: ")


@pytest.mark.parametrize(
    "headers",
    [{"Content-Type": "text/plain"}, {"Content-Type": "application/json", "Content-Encoding": "gzip"}],
)
def test_only_plain_json_is_taken(operator_api: httpx.Client, headers: dict[str, str]):
    answer = operator_api.post("/admin/accounts", content=b"{}", headers=headers)
    assert refusal(answer) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_accounts_are_listed_by_page_newest_first(operator_api: httpx.Client):
    made = [str(services.create_account(email=new_email()).id) for _ in range(5)]
    first = operator_api.get("/admin/accounts", params={"limit": 3}).json()
    second = operator_api.get("/admin/accounts", params={"limit": 3, "page": 2}).json()
    assert [account["id"] for account in first["accounts"] + second["accounts"]][:5] == made[::-1]
    assert first["total"] == Account.objects.count()
    assert operator_api.get("/admin/accounts", params={"page": 999_999}).json()["accounts"] == []
    assert set(first["accounts"][0]) == FIELDS


@pytest.mark.parametrize(
    ("query", "path"),
    [("limit=0", "limit"), ("limit=201", "limit"), ("page=0", "page"), ("page=x", "page"), ("sort=name", "sort")],
)
def test_a_bad_query_is_a_400(operator_api: httpx.Client, query: str, path: str):
    assert paths_at_fault(operator_api.get(f"/admin/accounts?{query}")) == [path]


def test_an_account_is_shown_with_its_usage_in_numbers(operator_api: httpx.Client, account: Account):
    body = operator_api.get(f"/admin/accounts/{account.id}").json()
    assert set(body) == FIELDS | {"rate_limit_max", "keep_last", "archive_days", "usage_this_month"}
    assert body["usage_this_month"] == {
        "checkpoint_writes": 0,
        "checkpoint_reads": 0,
        "resume_calls": 0,
        "replay_calls": 0,
        "storage_bytes_written": 0,
    }


def test_plan_status_and_rate_limit_are_changed(operator_api: httpx.Client, account: Account):
    changes = {"plan": "pro", "status": "suspended", "rate_limit_max": 5}
    answer = operator_api.patch(f"/admin/accounts/{account.id}", json=changes)
    assert answer.status_code == 200
    assert {field: answer.json()[field] for field in changes} == changes
    assert answer.json()["updated_at"] > iso(account.updated_at)
    answer = operator_api.patch(f"/admin/accounts/{account.id}", json={"rate_limit_max": None})
    assert answer.json() == {**operator_api.get(f"/admin/accounts/{account.id}").json(), "rate_limit_max": None}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "body"),
        ({"plan": ""}, "plan"),
        ({"plan": "Big Plan"}, "plan"),
        ({"status": "deleted"}, "status"),
        ({"status": None}, "status"),
        ({"rate_limit_max": 0}, "rate_limit_max"),
        ({"rate_limit_max": "7"}, "rate_limit_max"),
        ({"rate_limit_max": 7.0}, "rate_limit_max"),
        ({"rate_limit_max": True}, "rate_limit_max"),
        ({"rate_limit_max": 10**30}, "rate_limit_max"),
        ({"email": "b@example.com"}, "email"),
    ],
)
def test_nonsense_changes_nothing(operator_api: httpx.Client, account: Account, body: Any, path: str):
    before = operator_api.get(f"/admin/accounts/{account.id}").json()
    assert paths_at_fault(operator_api.patch(f"/admin/accounts/{account.id}", json=body)) == [path]
    assert operator_api.get(f"/admin/accounts/{account.id}").json() == before


def test_a_plan_that_is_none_hears_what_one_is_called(operator_api: httpx.Client, account: Account):
    answer = operator_api.patch(f"/admin/accounts/{account.id}", json={"plan": "Big Plan"})
    said = "plan: must be lower-case letters, digits, - and _, like free or pro"
    assert answer.json()["error"]["message"] == said


def test_what_is_wrong_with_a_body_as_a_whole_is_said_of_it(operator_api: httpx.Client, account: Account):
    error = operator_api.patch(f"/admin/accounts/{account.id}", json={}).json()["error"]
    said = "nothing to change: send plan, status, rate_limit_max, keep_last or archive_days"
    assert (error["message"], error["details"]) == (f"body: {said}", [{"path": "body", "message": said}])


@pytest.mark.parametrize("account_id", [NOWHERE, "x", "1", f"{{{NOWHERE}}}", NOWHERE.hex, "%00"])
@pytest.mark.parametrize(
    ("method", "rest"),
    [("GET", ""), ("PATCH", ""), ("GET", "/keys"), ("POST", "/keys"), ("DELETE", f"/keys/{NOWHERE}")],
)
def test_what_does_not_exist_is_a_404(operator_api: httpx.Client, account_id: Any, method: str, rest: str):
    answer = operator_api.request(method, f"/admin/accounts/{account_id}{rest}")
    assert refusal(answer) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/admin/accounts"),
        ("POST", "/admin/accounts"),
        ("GET", f"/admin/accounts/{NOWHERE}"),
        ("PATCH", f"/admin/accounts/{NOWHERE}"),
        ("GET", f"/admin/accounts/{NOWHERE}/keys"),
        ("POST", f"/admin/accounts/{NOWHERE}/keys"),
        ("DELETE", f"/admin/accounts/{NOWHERE}/keys/{NOWHERE}"),
    ],
)
@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer wrong", "Basic {}", "{}", "Bearer {}x", "Bearer é"])
def test_only_the_secret_opens_the_admin_api(anonymous: httpx.Client, method: str, path: str, header: str | None):
    headers = {} if header is None else {"Authorization": header.format(settings.ADMIN_SECRET).encode()}
    answer = anonymous.request(method, path, headers=headers)  # type: ignore[arg-type]
    assert refusal(answer) == (401, "UNAUTHORIZED")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_an_api_key_is_no_admin_secret_and_the_other_way_round(api: httpx.Client, operator_api: httpx.Client):
    assert refusal(api.get("/admin/accounts")) == (401, "UNAUTHORIZED")
    assert refusal(operator_api.get("/usage")) == (401, "UNAUTHORIZED")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/admin/accounts", "GET, POST, HEAD, OPTIONS"),
        ("PUT", f"/admin/accounts/{NOWHERE}", "GET, PATCH, HEAD, OPTIONS"),
        ("PATCH", f"/admin/accounts/{NOWHERE}/keys", "GET, POST, HEAD, OPTIONS"),
        ("GET", f"/admin/accounts/{NOWHERE}/keys/{NOWHERE}", "DELETE, OPTIONS"),
    ],
)
def test_a_method_that_is_not_there_is_a_405(operator_api: httpx.Client, method: str, path: str, allowed: str):
    answer = operator_api.request(method, path)
    assert refusal(answer) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["Allow"] == allowed


@pytest.mark.parametrize("path", ["/admin/accounts/a/b", "/admin/accounts/a/keys/b/c"])
def test_other_paths_are_not_there(anonymous: httpx.Client, path: str):
    assert refusal(anonymous.get(path)) == (404, "NOT_FOUND")


def test_any_accept_header_gets_json(operator_api: httpx.Client):
    assert operator_api.get("/admin/accounts", headers={"Accept": "text/html"}).json()["accounts"]
