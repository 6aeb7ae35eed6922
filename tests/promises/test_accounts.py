"""Promise 5: accounts cannot see one another: in no tier, by no id, in no log."""

import uuid

import pytest

from tests.promises.calling import Answer, Caller, state_of

READS = [
    "/workflows/{id}",
    "/workflows/{id}/resume",
    "/workflows/{id}/replay",
    "/workflows/{id}/diff",
    "/checkpoints/cp_{id}_001",
    "/workflows?q={id}",
]


@pytest.fixture
def stranger(stack):
    with Caller(stack.url, stack.tenant().key) as caller:
        yield caller


@pytest.mark.parametrize("tier", ["hot", "warm"])
def test_a_foreign_workflow_answers_like_a_missing_one(tier, stack, caller, stranger):
    name = f"wf-{uuid.uuid4().hex}"
    caller.save_steps(name, 1, 3)
    if tier == "warm":
        stack.catch_up()
        stack.flush_redis()
    missing = f"wf-{uuid.uuid4().hex}"
    for path in READS:
        foreign, nothing = (stranger.call("GET", path.format(id=name)) for name in (name, missing))
        assert said(foreign, name) == said(nothing, missing), path
    assert stranger.call("DELETE", f"/workflows/{name}").status == 404
    assert stranger.call("PATCH", f"/workflows/{name}", b'{"pinned": true}').status == 404
    assert caller.head(name)[0] == 3


def said(answer: Answer, name: str) -> tuple[int, str]:
    """All that an answer says, but for its own id and the name it was asked for."""
    body = answer.body.decode().replace(answer.headers["x-request-id"], "")
    return answer.status, body.replace(name, "")


@pytest.mark.parametrize("tier", ["hot", "warm"])
def test_the_same_id_in_two_accounts_is_two_workflows(tier, stack, caller, stranger):
    caller.save("shared", 1, b'{"mine": 1}')
    stranger.save("shared", 1, b'{"theirs": 1}')
    if tier == "warm":
        stack.catch_up()
        stack.flush_redis()
    assert [bytes(step.state) for step in caller.history("shared")] == [b'{"mine": 1}']
    assert stranger.call("DELETE", "/workflows/shared").status == 204
    assert (caller.head("shared")[0], stranger.resume("shared").status) == (1, 404)
    assert caller.save("shared", 2, state_of("shared", 2)).status == 201


def test_no_process_logs_a_key_or_a_state(stack, tenant, impatient):
    impatient.save("wf", 1, b'{"secret": "plaintext-of-a-state"}')
    impatient.save("wf", 1, b'{"secret": "plaintext-of-a-state", "broken"')
    stack.kill("store")
    assert impatient.save("wf", 2, b'{"secret": "plaintext-of-a-state"}').status == 503
    stack.store.start()
    stack.catch_up()
    assert stack.lines
    assert not stack.heard(tenant.key)
    assert not stack.heard("plaintext-of-a-state")
