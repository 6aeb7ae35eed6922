"""Whether a received webhook is ours and fresh: Standard Webhooks, over the very bytes that came."""

import binascii
import hmac
import json
import time
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import cast

from snapstate_sdk.errors import WebhookVerificationError
from snapstate_sdk.reports import WebhookEvent

PREFIX = "whsec_"
TOLERANCE_SECONDS = 300


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: str | Iterable[str],
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    now: float | None = None,
) -> WebhookEvent:
    """The event in `body`, once it is sure that one who knows the secret has sent it just now.

    `body`: the raw bytes as received; JSON that was read and written again will not do. `headers`: of the request, in
    any case. `secret`: as shown when the webhook was made; several while one is being replaced. `tolerance_seconds`:
    how far its time may lie from ours, `now` (seconds since 1970, our clock's unless given).

    Deliveries may come twice: remember `event_id`. Raises WebhookVerificationError.
    """
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise TypeError("body must be the raw bytes of the request")
    received = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (_header(received, name) for name in ("id", "timestamp", "signature"))
    _check_time(timestamp, tolerance_seconds, time.time() if now is None else now)
    signed = f"{message_id}.{timestamp}.".encode(errors="replace") + bytes(body)
    secrets = [secret] if isinstance(secret, str) else list(secret)
    expected = [hmac.digest(_key_of(one), signed, sha256) for one in secrets]
    if not any([hmac.compare_digest(ours, theirs) for theirs in _signatures(signatures) for ours in expected]):  # noqa: C419
        raise WebhookVerificationError("no signature matches")
    return _event(bytes(body))


def _header(received: Mapping[str, str], name: str) -> str:
    value = received.get(f"webhook-{name}", "")
    if not value:
        raise WebhookVerificationError(f"the header webhook-{name} is missing")
    return value


def _check_time(timestamp: str, tolerance: float, now: float) -> None:
    if not (timestamp.isascii() and timestamp.isdigit()):
        raise WebhookVerificationError("webhook-timestamp is not a number of seconds")
    if abs(now - int(timestamp[:20])) > tolerance:
        raise WebhookVerificationError("webhook-timestamp is too old, or too far ahead")


def _key_of(secret: str) -> bytes:
    """After `whsec_`, base64; any other secret, its UTF-8 bytes."""
    if not secret:
        raise ValueError("a secret is empty")
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"a secret that begins with {PREFIX} must go on in base64: {error}") from None
    if not key:
        raise ValueError(f"a secret has nothing after {PREFIX}")
    return key


def _signatures(header: str) -> Iterator[bytes]:
    """Those of the one version that there is; others, and what is no base64, are passed over."""
    for part in header.split():
        version, _, text = part.partition(",")
        if version == "v1":
            try:
                yield b64decode(text, validate=True)
            except (binascii.Error, ValueError):
                continue


def _event(body: bytes) -> WebhookEvent:
    try:
        event = json.loads(body)
    except ValueError:
        event = None
    if not isinstance(event, dict):
        raise WebhookVerificationError("the body is no JSON object")
    return cast(WebhookEvent, event)
