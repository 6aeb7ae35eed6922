"""State through our Python SDK: runs resumed as they were, text to the byte from every tier, deliveries verified."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from snapstate_sdk import SnapStateClient, WebhookVerificationError, verify_webhook

from tests.clients import runs
from tests.hostile.test_state import KEPT
from tests.webhooks.receiver import Receiver
from tests.webhooks.steps import deliver

SOON = 60
needs_runs = pytest.mark.skipif(not runs.paths(), reason=f"no trajectories in {runs.FOLDER}")


@pytest.fixture
def sdk(base_url: str, key: str) -> Iterator[SnapStateClient]:
    with SnapStateClient(key, base_url) as client:
        yield client


@needs_runs
@pytest.mark.parametrize("path", runs.paths(), ids=lambda path: path.stem)
def test_a_run_is_equal_on_every_resume_and_on_replay(
    sdk: SnapStateClient, settle: Callable[[], None], path: Path
) -> None:
    with sdk.workflow(path.stem, agent_id="swe", ttl_seconds=SOON) as wf:
        for _, state, label in runs.messages(path):
            wf.checkpoint(label, state)
    settle()
    with sdk.workflow(path.stem) as again:
        assert (again.state, again.step, again.etag) == (wf.state, wf.step, wf.etag)
    shown = [(one.step - 1, one.state, one.label) for one in sdk.checkpoints(path.stem, page_size=20)]
    assert shown == [tuple(message) for message in runs.messages(path)]


@needs_runs
@pytest.mark.parametrize("path", runs.paths(), ids=lambda path: path.stem)
def test_a_runs_text_comes_back_to_the_byte(sdk: SnapStateClient, settle: Callable[[], None], path: Path) -> None:
    texts = [json.dumps(state, indent=step % 3 or None) for step, state, _ in runs.messages(path)]
    for step, text in enumerate(texts):
        sdk.save(path.stem, step, state_json=text, ttl_seconds=SOON)
    settle()
    assert [one.state_json for one in sdk.checkpoints(path.stem)] == texts
    assert sdk.resume(path.stem).state_json == texts[-1]


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_nasty_text_comes_back_to_the_byte(sdk: SnapStateClient, settle: Callable[[], None], text: str) -> None:
    sdk.save("a/b 🤖", 1, state_json=text, metadata_json=text.encode(), ttl_seconds=SOON)
    settle()
    found = [sdk.resume("a/b 🤖").latest_checkpoint, *sdk.checkpoints("a/b 🤖"), sdk.get("cp_a/b 🤖_001")]
    assert [(one.state_json, one.metadata_json) for one in found] == [(text, text)] * 3
    assert [(one.state, one.metadata) for one in found] == [(json.loads(text), json.loads(text))] * 3


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_a_value_comes_back_equal(sdk: SnapStateClient, text: str) -> None:
    state = json.loads(text)
    sdk.save("wf", 1, state, metadata=state)
    head = sdk.resume("wf").latest_checkpoint
    assert (head.state, head.metadata) == (state, state)
    again = sdk.save("wf", 1, head.state, metadata=head.metadata)
    assert again.replayed


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(settings, "WEBHOOK_PRIVATE_NETWORKS", ["127.0.0.0/8"])
    made = Receiver(204)
    yield made
    made.stop()


@pytest.mark.parametrize("secret", [None, "plain é secret", "whsec_c2VjcmV0IG9mIG1pbmU="])
def test_a_delivery_is_verified(
    sdk: SnapStateClient, intake: Callable[[], None], receiver: Receiver, secret: str | None
) -> None:
    made: Any = sdk.register_webhook(receiver.url, ["checkpoint.saved"], secret)
    saved = sdk.save("a/é", 1, {"n": 1.0})
    sdk.rotate_webhook_secret(made["webhook_id"], "the next one")
    intake()
    deliver()
    (got,) = [each for each in receiver.got if each.json["webhook_id"] == made["webhook_id"]]
    for known in (made["secret"], "the next one", ["wrong", made["secret"]]):
        event = verify_webhook(got.body, dict(got.headers.items()), known)
        assert (event["type"], event["data"]["etag"]) == ("checkpoint.saved", saved.etag)
    with pytest.raises(WebhookVerificationError):
        verify_webhook(got.body, dict(got.headers.items()), "wrong")
