"""Received webhooks: what our server signs is taken, whatever is not exactly that is refused."""

import hmac
from base64 import b64encode
from hashlib import sha256
from typing import cast

import pytest

from snapstate_sdk import WebhookVerificationError, verify_webhook

# As Standard Webhooks publishes it for implementations to agree on.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID, AT, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
HEADERS = {"webhook-id": ID, "webhook-timestamp": str(AT), "webhook-signature": SIGNATURE}
OTHER = "v1," + b64encode(b"x" * 32).decode()


def signed(secret: bytes, body: bytes = BODY, at: int = AT) -> dict[str, str]:
    digest = hmac.digest(secret, f"{ID}.{at}.".encode() + body, sha256)
    return {**HEADERS, "webhook-timestamp": str(at), "webhook-signature": "v1," + b64encode(digest).decode()}


def test_the_published_example_is_taken():
    assert dict(verify_webhook(BODY, HEADERS, SECRET, now=AT)) == {"test": 2432232314}


def test_names_of_headers_have_no_case():
    assert verify_webhook(BODY, {name.title(): value for name, value in HEADERS.items()}, SECRET, now=AT)


@pytest.mark.parametrize("signature", [f"{OTHER} {SIGNATURE}", f"v2,abc v1a,x {SIGNATURE}", f"v1,!! v1 , {SIGNATURE}"])
def test_one_good_signature_among_others_is_enough(signature):
    assert verify_webhook(BODY, {**HEADERS, "webhook-signature": signature}, SECRET, now=AT)


def test_several_secrets_may_be_good_while_one_is_replaced():
    assert verify_webhook(BODY, HEADERS, ["whsec_AAAA", SECRET], now=AT)


def test_a_plain_secret_is_its_own_bytes():
    assert verify_webhook(BODY, signed("gehéim, no base64".encode()), "gehéim, no base64", now=AT)


def test_the_body_is_bytes_and_not_what_they_mean():
    body = '{"é": 1.0,  "u": "/"}'.encode()
    assert dict(verify_webhook(body, signed(b"plain", body), "plain", now=AT)) == {"é": 1.0, "u": "/"}
    with pytest.raises(WebhookVerificationError, match="no signature matches"):
        verify_webhook(body.replace(b"  ", b" "), signed(b"plain", body), "plain", now=AT)
    with pytest.raises(TypeError, match="raw bytes"):
        verify_webhook(cast(bytes, body.decode()), signed(b"plain", body), "plain", now=AT)


@pytest.mark.parametrize("name", list(HEADERS))
@pytest.mark.parametrize("value", [None, "", "v1,é", OTHER, "1614265331", "\ud800", "9" * 5000])
def test_any_other_header_is_refused(name, value):
    headers = {**HEADERS, name: value} if value is not None else {key: HEADERS[key] for key in HEADERS if key != name}
    with pytest.raises(WebhookVerificationError):
        verify_webhook(BODY, headers, SECRET, now=AT)


@pytest.mark.parametrize(("now", "fresh"), [(AT + 299, True), (AT - 299, True), (AT + 301, False), (AT - 301, False)])
def test_a_message_is_taken_for_five_minutes(now, fresh):
    if fresh:
        assert verify_webhook(BODY, HEADERS, SECRET, now=now)
        return
    with pytest.raises(WebhookVerificationError, match="too old"):
        verify_webhook(BODY, HEADERS, SECRET, now=now)


def test_the_tolerance_and_the_clock_are_the_callers():
    assert verify_webhook(BODY, HEADERS, SECRET, tolerance_seconds=10**9)
    with pytest.raises(WebhookVerificationError, match="too old"):
        verify_webhook(BODY, HEADERS, SECRET)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_no base64", "whsec_é"])
def test_a_secret_that_is_none_is_the_callers_mistake(secret):
    with pytest.raises(ValueError, match="secret"):
        verify_webhook(BODY, HEADERS, secret, now=AT)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff"])
def test_a_signed_body_that_is_no_object_is_refused(body):
    with pytest.raises(WebhookVerificationError, match="no JSON object"):
        verify_webhook(body, signed(b"plain", body), "plain", now=AT)
