"""Receivers verify what we send with the JavaScript SDK, on the raw bytes."""

import base64

import pytest

from tests.clients import javascript
from tests.webhooks.steps import deliver

ODD_ID = 'runs/é 1.0 "🤖" \\ </b>'


def verified(got, *secrets):
    body = base64.b64encode(got.body).decode()
    asked = {"body": body, "headers": dict(got.headers), "secrets": secrets}
    return javascript.tell("test/live/verify.mjs", of=asked, base_url="", key="")


@pytest.mark.parametrize("secret", [None, "plain é"])
def test_a_delivery_is_verified_and_its_data_untouched(api, intake, hook, receiver, secret):
    to = receiver(200)
    registered = hook(to.url, secret=secret)
    saved = api.post("/checkpoints", json={"workflow_id": ODD_ID, "step": 1, "state": {"n": 1.0}}).json()
    intake()
    deliver()
    event = verified(to.got[0], "another", registered["secret"])
    assert (event["type"], event["eventId"]) == ("checkpoint.saved", to.got[0].headers["webhook-id"])
    assert event["data"] == to.got[0].json["data"]
    assert (event["data"]["workflow_id"], event["data"]["etag"]) == (ODD_ID, saved["etag"])
    assert verified(to.got[0], "another") == "WebhookVerificationError"


def test_both_secrets_are_good_for_a_day_after_a_rotation(api, intake, hook, receiver):
    to = receiver(200)
    registered = hook(to.url)
    rotated = api.post(f"/webhooks/{registered['webhook_id']}/rotate-secret").json()
    api.post("/checkpoints", json={"workflow_id": "w", "step": 1, "state": {}})
    intake()
    deliver()
    assert [verified(to.got[0], each["secret"])["event"] for each in (registered, rotated)] == ["checkpoint.saved"] * 2
