"""Saving: what is answered, and the order of the rules (replay, guard, step)."""

import httpx
import pytest

from tests.checkpoints.steps import existing, resume, save, save_raw


def test_a_first_save_is_answered_with_its_name_etag_and_diff(api: httpx.Client) -> None:
    answer = save(api, "wf", 1, {"a": {"b": [1, {}]}})
    assert answer.status_code == 201, answer.text
    assert answer.json()["checkpoint_id"] == "cp_wf_001"
    assert answer.headers["ETag"] == answer.json()["etag"]
    assert answer.json()["diff_from_previous"] == {"added": ["a.b[0]", "a.b[1]"], "removed": [], "changed": []}


def test_the_same_save_again_is_answered_with_the_first_result(api: httpx.Client) -> None:
    first, again = save(api, "wf", 1), save(api, "wf", 1)
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (200, "true")
    assert again.json() == first.json()


@pytest.mark.parametrize(("text", "status"), [("1.0", 200), ("1e0", 200), ("10E-1", 200), ("true", 409), ("2", 409)])
def test_other_bytes_of_the_same_value_are_a_replay(api: httpx.Client, text: str, status: int) -> None:
    first = save_raw(api, "wf", 1, '{"v": 1, "o": 2}')
    again = save_raw(api, "wf", 1, f'{{"o":2,"v":{text}}}')
    assert again.status_code == status
    assert status == 409 or again.headers["ETag"] == first.headers["ETag"]
    assert b'"state":{"v": 1, "o": 2}' in resume(api, "wf").content


def test_another_label_is_other_content(api: httpx.Client) -> None:
    first = save(api, "wf", 1, label="a")
    assert existing(save(api, "wf", 1, label="b")) == {"checkpoint_id": "cp_wf_001", "etag": first.headers["ETag"]}


def test_a_lower_unseen_step_is_kept_and_does_not_move_the_head(api: httpx.Client) -> None:
    save(api, "wf", 5)
    assert save(api, "wf", 3).status_code == 201
    assert resume(api, "wf").json()["latest_checkpoint"]["step"] == 5
    assert save(api, "wf", 3).status_code == 200
    assert existing(save(api, "wf", 3, {"other": 1}))["checkpoint_id"] == "cp_wf_003"


def test_only_the_head_can_be_replaced_and_only_under_its_etag(api: httpx.Client) -> None:
    save(api, "wf", 1)
    second = save(api, "wf", 2)
    replaced = save(api, "wf", 2, {"n": "new"}, headers={"If-Match": second.headers["ETag"]})
    assert replaced.status_code == 201
    assert existing(save(api, "wf", 2, {"n": 2}))["etag"] == replaced.headers["ETag"]
    assert existing(save(api, "wf", 1, {"n": 9}, headers={"If-Match": replaced.headers["ETag"]}))
    assert resume(api, "wf").json()["total_checkpoints"] == 2


def test_the_same_content_thrice_has_three_etags(api: httpx.Client) -> None:
    etags = {save(api, "wf", step, {"v": state}).headers["ETag"] for step, state in ((1, "A"), (2, "B"), (3, "A"))}
    assert len(etags) == 3


def test_a_stale_guard_is_refused_with_the_head(api: httpx.Client) -> None:
    first, second = save(api, "wf", 1), save(api, "wf", 2)
    refused = save(api, "wf", 3, headers={"If-Match": first.headers["ETag"]})
    assert existing(refused) == {"checkpoint_id": "cp_wf_002", "etag": second.headers["ETag"]}


@pytest.mark.parametrize("form", ["{0}", '"{0}"', 'W/"{0}"'])
def test_an_etag_is_accepted_in_each_form(api: httpx.Client, form: str) -> None:
    bare = save(api, "wf", 1).headers["ETag"].strip('"')
    assert save(api, "wf", 2, headers={"If-Match": form.format(bare)}).status_code == 201


def test_a_guarded_save_sent_again_is_a_replay_wherever_the_head_is_now(api: httpx.Client) -> None:
    guard = {"If-Match": save(api, "wf", 1).headers["ETag"]}
    save(api, "wf", 2, headers=guard)
    save(api, "wf", 3)
    assert save(api, "wf", 2, headers=guard).status_code == 200
    assert existing(save(api, "wf", 2, headers={"If-Match": "*"}))["checkpoint_id"] == "cp_wf_002"


def test_guards_on_existence(api: httpx.Client) -> None:
    assert existing(save(api, "wf", 1, headers={"If-Match": "*"})) is None
    assert save(api, "wf", 1, headers={"If-None-Match": "*"}).status_code == 201
    assert save(api, "wf", 1, headers={"If-None-Match": "*"}).status_code == 200
    assert existing(save(api, "wf", 2, headers={"If-None-Match": "*"}))["checkpoint_id"] == "cp_wf_001"
    assert save(api, "wf", 2, headers={"If-Match": "*"}).status_code == 201


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match"])
@pytest.mark.parametrize("value", ['"a', 'a"b"', '"a", "b"', ""])
def test_a_malformed_guard_is_never_ignored(api: httpx.Client, header: str, value: str) -> None:
    answer = save(api, "wf", 1, headers={header: value})
    assert (answer.status_code, answer.json()["error"]["details"][0]["path"]) == (400, header)


@pytest.mark.parametrize("ttl", ["0", "-5", "3600abc", "1e9", "31536001", "1.5", ""])
def test_a_ttl_that_is_none_is_refused(api: httpx.Client, ttl: str) -> None:
    answer = save(api, "wf", 1, headers={"X-Checkpoint-TTL": ttl})
    assert (answer.status_code, answer.json()["error"]["details"][0]["path"]) == (400, "X-Checkpoint-TTL")


def test_minimal_answers_have_no_diff(api: httpx.Client) -> None:
    answer = save(api, "wf", 1, headers={"Prefer": "return=minimal"})
    assert answer.status_code == 201
    assert "diff_from_previous" not in answer.json()


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("workflow_id", "", "workflow_id"),
        ("workflow_id", "..", "workflow_id"),
        ("workflow_id", "a\nb", "workflow_id"),
        ("workflow_id", "  ", "workflow_id"),
        ("workflow_id", "x" * 256, "workflow_id"),
        ("step", "1", "step"),
        ("step", True, "step"),
        ("step", 1.0, "step"),
        ("step", -1, "step"),
        ("step", 2**53, "step"),
        ("state", [], "state"),
        ("label", "x" * 257, "label"),
        ("agent_id", "a b", "agent_id"),
        ("metadata", [], "metadata"),
        ("metadata", {"m": "x" * 65536}, "metadata"),
        ("status", "done", "status"),
        ("error", {"type": "t"}, "error"),
        ("surprise", 1, "surprise"),
    ],
)
def test_a_wrong_field_is_named(api: httpx.Client, field: str, value: object, path: str) -> None:
    answer = api.post("/checkpoints", json={"workflow_id": "wf", "step": 1, "state": {}, field: value})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["details"][0]["path"] == path


def test_a_missing_field_is_named(api: httpx.Client) -> None:
    answer = api.post("/checkpoints", json={"workflow_id": "wf", "step": 1})
    assert answer.json()["error"]["details"][0]["path"] == "state"


def test_a_choice_that_is_none_is_told_what_there_is(api: httpx.Client) -> None:
    answer = api.post("/checkpoints", json={"workflow_id": "wf", "step": 1, "state": {}, "status": "done"})
    assert "must be one of active, completed, failed" in answer.json()["error"]["details"][0]["message"]
    answer = api.post("/webhooks", json={"url": "https://example.com/", "events": ["nope"]})
    assert "must be one of checkpoint.saved, quota.exceeded" in answer.json()["error"]["details"][0]["message"]


def test_a_conflict_says_what_to_do(api: httpx.Client) -> None:
    save(api, "wf", 3)
    held = save(api, "wf", 3, {"other": 1}).json()
    assert "Step 3 holds other contents already. Save them as a later step" in held["error"]["message"]
    assert held["existing"]["checkpoint_id"] == "cp_wf_003"
    below = save(api, "wf", 1, headers={"If-Match": "*"}).json()
    assert below["error"]["message"] == "Step 1 is below the head: what has a guard can only follow it."
