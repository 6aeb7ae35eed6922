"""Standard Webhooks, and the older X-Checkpoint-Signature; both over the exact bytes that are sent. Pure."""

import binascii
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterable
from hashlib import sha256

PREFIX = "whsec_"
KEY_BYTES = 32


def new_secret() -> str:
    return PREFIX + b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def key_of(secret: str) -> bytes:
    """After `whsec_`, base64; any other secret, its UTF-8 bytes. ValueError: neither."""
    if not secret.startswith(PREFIX):
        return secret.encode()
    try:
        key = b64decode(secret.removeprefix(PREFIX).encode(), validate=True)
    except binascii.Error as error:
        raise ValueError(f"must be base64 after {PREFIX}: {error}") from None
    if not key:
        raise ValueError(f"must have a key after {PREFIX}")
    return key


def headers(message_id: str, timestamp: int, body: bytes, secrets: Iterable[str]) -> dict[str, str]:
    """What proves that `body` is ours. `secrets`: the present one first, then those that still sign."""
    present, *former = secrets
    signed = f"{message_id}.{timestamp}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(f"v1,{signature(secret, signed)}" for secret in (present, *former)),
        "X-Checkpoint-Signature": f"sha256={hmac.new(present.encode(), body, sha256).hexdigest()}",
    }


def signature(secret: str, signed: bytes) -> str:
    return b64encode(hmac.digest(key_of(secret), signed, "sha256")).decode()
