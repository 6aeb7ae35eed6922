"""Hostile inputs, numbers and queries: steps within bounds, parameters known, given once and well-formed."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from snapstate_project.common.pagination import encode_cursor
from tests.hostile.reading import body, error_of, place_of, save, saved, send

WORKFLOW = "/workflows/wf"
STEPS = ["-1", "1.5", "1.0", "1.", "1e0", "true", '"1"', "null", "[]", "9007199254740992", "-9007199254740993",
         "99999999999999999999", "1" + "0" * 400, "-", "0x1", "01", "NaN"]  # fmt: skip
NUMBERS = ["99999999999999999999", "-1", "abc", "1.0", "1e0", "", "+1", "%201", "01", "0x1", "true", "null", "%D9%A1"]
BAD = {
    f"{WORKFLOW}/replay": {
        "from_step": [*NUMBERS, "9007199254740992"],
        "to_step": NUMBERS,
        "limit": [*NUMBERS, "0", "1001"],
        "label": ["x" * 257],
        "include_state": ["1", "True", "yes", ""],
        "cursor": ["", "abc", "%00", "W10", "bnVsbA", "WyJhIl0", "Wy0xXQ==x", "é", "W" * 5000],
    },
    f"{WORKFLOW}/diff": {"from_step": NUMBERS, "to_step": NUMBERS},
    f"{WORKFLOW}/resume": {"agent_id": ["", "a b", "é", "%00", "a/b", "a" * 256]},
    "/workflows": {
        "limit": [*NUMBERS, "0", "201"],
        "status": ["", "Active", "done", "active,failed"],
        "agent_id": ["", "a b", "*"],
        "label": ["x" * 257],
        "metadata": ["1"],
        "updated_after": ["", "now", "2026-11-29", "2026-13-01T00:00:00Z", "2026-11-29T18:33:11", "1e9",
                          "0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00"],
        "updated_before": ["yesterday", "2026-02-30T00:00:00Z"],
        "q": ["", "%00", "x" * 256],
        "cursor": ["", "abc", "W10", "WzEsMiwzXQ", "WyIyMDI2IiwiMjAyNiIsMV0"],
    },
    "/admin/accounts": {"limit": [*NUMBERS, "0", "201"], "page": [*NUMBERS, "0", "1000001"]},
}  # fmt: skip
NOW, ID = "2026-11-30T11:36:39.671938Z", "b879b29f-1f42-48bf-ae20-46a1f3f87f7f"
AHEAD, BEFORE = "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"  # UTC has no such year
MADE_UP = [
    *(("/agents", place) for time in (AHEAD, BEFORE)
      for place in ([time, None, NOW, ID], [NOW, time, NOW, ID], [NOW, None, time, ID])),
    *((path, place) for path in ("/workflows", "/admin/workflows") for time in (AHEAD, BEFORE)
      for place in ([time, NOW, 1], [NOW, time, 1])),
    *((path, [NOW, NOW, 10**30]) for path in ("/workflows", "/admin/workflows")),
    *((path, [number]) for path in (f"{WORKFLOW}/replay", "/webhooks") for number in (-1, 10**30)),
]  # fmt: skip
EXTREMES = [
    *(f"/workflows?updated_{side}={time}" for side in ("after", "before")
      for time in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z")),
    *(f"{path}/analytics/overview?start_date={day}&end_date={day}" for path in ("", "/admin")
      for day in ("0001-01-01", "9999-12-30")),
    "/analytics/agents?start_date=9999-12-30&end_date=9999-12-30",
    "/analytics/agents?end_date=0001-01-01",
]  # fmt: skip
CASES = [f"{path}?{name}={value}" for path, names in BAD.items() for name, values in names.items() for value in values]
READS = ["/workflows", WORKFLOW, f"{WORKFLOW}/resume", f"{WORKFLOW}/replay", f"{WORKFLOW}/diff",
         "/checkpoints/cp_wf_001", "/usage", "/health", "/ready", "/admin/accounts", "/admin/accounts/{account}",
         "/admin/accounts/{account}/keys"]  # fmt: skip
WRITES = ["POST /checkpoints", f"PATCH {WORKFLOW}", f"DELETE {WORKFLOW}", "POST /admin/accounts",
          "PATCH /admin/accounts/{account}", "POST /admin/accounts/{account}/keys"]  # fmt: skip


def test_a_step_beyond_32_bits_is_a_step(api: httpx.Client, wf: str, settle: Callable[[], None]) -> None:
    for step in (2_147_483_648, 2**53 - 1):
        assert saved(save(api, wf, step)).json()["checkpoint_id"] == f"cp_{wf}_{step}"
    settle()
    assert api.get(f"/checkpoints/cp_{wf}_2147483648").json()["step"] == 2_147_483_648
    assert api.get(f"/workflows/{wf}/resume").json()["latest_checkpoint"]["step"] == 2**53 - 1
    assert api.get(f"/workflows/{wf}/replay?from_step={2**53 - 1}").json()["total"] == 1


@pytest.mark.parametrize("step", STEPS)
def test_anything_else_is_no_step(api: httpx.Client, step: str) -> None:
    assert place_of(send(api, body("wf", 1, "{}", step=step))) == "step"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path[:60])
def test_a_bad_value_is_named(api: httpx.Client, operator_api: httpx.Client, path: str) -> None:
    save(api, "wf", 1)
    answer = (operator_api if path.startswith("/admin") else api).get(path)
    assert place_of(answer) == path.partition("?")[2].partition("=")[0]


@pytest.mark.parametrize(("path", "place"), MADE_UP)
def test_a_cursor_that_somebody_made_up_is_refused(
    api: httpx.Client, operator_api: httpx.Client, path: str, place: list[Any]
) -> None:
    caller = operator_api if path.startswith("/admin") else api
    assert place_of(caller.get(path, params={"cursor": encode_cursor(place)})) == "cursor"


@pytest.mark.parametrize("path", EXTREMES)
def test_the_first_and_the_last_time_there_is_are_times(
    api: httpx.Client, operator_api: httpx.Client, path: str
) -> None:
    assert (operator_api if path.startswith("/admin") else api).get(path).status_code == 200


@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize(
    "more", ["surprise=1", "limit=1&limit=1", "limit[]=1", "Limit=1", "=1", "a%00b=1", "a=%FF", "%FF=1"]
)
def test_what_a_read_does_not_know_is_refused(
    api: httpx.Client, operator_api: httpx.Client, account: Any, path: str, more: str
) -> None:
    save(api, "wf", 1)
    caller = operator_api if path.startswith("/admin") else api
    error_of(caller.get(f"{path.format(account=account.id)}?{more}"), 400, "VALIDATION_ERROR")


@pytest.mark.parametrize("route", WRITES)
def test_a_write_takes_no_query(api: httpx.Client, operator_api: httpx.Client, account: Any, route: str) -> None:
    save(api, "wf", 1)
    method, path = route.format(account=account.id).split()
    caller = operator_api if path.startswith("/admin") else api
    assert (
        place_of(caller.request(method, f"{path}?dry_run=true", json={} if method != "DELETE" else None)) == "dry_run"
    )
    assert api.get(f"{WORKFLOW}/resume").status_code == 200


@pytest.mark.parametrize(
    "path",
    ["failures?days=abc", "failures?days=0", "failures?days=91", "overview?start_date=2026-13-01", "agents?end_date=x",
     "overview?start_date=2026-11-30&end_date=2026-11-01", "failures?surprise=1"],
)  # fmt: skip
def test_a_bad_report_query_is_refused(api: httpx.Client, path: str) -> None:
    error_of(api.get(f"/analytics/{path}"), 400, "VALIDATION_ERROR")
