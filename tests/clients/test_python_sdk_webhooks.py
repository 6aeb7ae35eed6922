"""Our verification of webhooks beside Standard Webhooks' own: both take the same, and both refuse the same."""

import json
from base64 import b64encode
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as some
from snapstate_sdk import WebhookVerificationError, verify_webhook
from standardwebhooks import Webhook
from standardwebhooks import WebhookVerificationError as TheirError

from webhooks import signing

IDS = some.text(alphabet=some.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=60)
VALUES = some.dictionaries(some.text(max_size=20), some.text(max_size=50) | some.integers() | some.none(), max_size=5)
KEYS = some.binary(min_size=1, max_size=64)


def text_of(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


@given(IDS, VALUES, KEYS)
def test_what_their_library_signs_is_taken_by_both(message_id: str, value: dict[str, object], key: bytes) -> None:
    now, theirs, body = datetime.now(UTC), Webhook(key), text_of(value)
    headers = {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": theirs.sign(message_id, now, body),
    }
    secret = "whsec_" + b64encode(key).decode()
    assert dict(verify_webhook(body.encode(), headers, secret)) == theirs.verify(body, headers) == value


@given(IDS, VALUES, KEYS, KEYS, some.integers(-600, 600), some.booleans())
def test_what_our_server_signs_is_taken_by_both_or_by_neither(
    message_id: str, value: dict[str, object], key: bytes, other: bytes, late: int, changed: bool
) -> None:
    at, secret, body = int(datetime.now(UTC).timestamp()), "whsec_" + b64encode(key).decode(), text_of(value).encode()
    headers = signing.headers(message_id, at - late, body, ["whsec_" + b64encode(other).decode(), secret])
    received = body + b" " if changed else body
    if changed or abs(late) > 305:
        with pytest.raises(WebhookVerificationError):
            verify_webhook(received, headers, secret)
        with pytest.raises(TheirError):
            Webhook(secret).verify(received, headers)
    elif abs(late) < 295:
        assert dict(verify_webhook(received, headers, secret)) == Webhook(secret).verify(received, headers) == value
