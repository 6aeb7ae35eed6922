"""API keys as text: `snp_` and 32 hex digits, minted at random, kept only as a SHA-256. Pure."""

import re
import secrets
from hashlib import sha256

from django.conf import settings

SCOPES = ("checkpoints:write", "checkpoints:read", "agents:manage", "analytics:read", "webhooks:manage")
PREFIX_LENGTH = 12
HEX_DIGITS = 32
PATTERN = re.compile(rf"{re.escape(settings.API_KEY_PREFIX)}[0-9a-f]{{{HEX_DIGITS}}}")


def mint() -> str:
    """A new secret: 128 random bits."""
    return settings.API_KEY_PREFIX + secrets.token_hex(HEX_DIGITS // 2)


def digest(secret: str) -> str:
    """What is stored of a secret, in hex; no salt is needed against guessing 128 random bits."""
    return sha256(secret.encode()).hexdigest()


def prefix(secret: str) -> str:
    """What people recognise a key by."""
    return secret[:PREFIX_LENGTH]


def is_well_formed(text: str) -> bool:
    return PATTERN.fullmatch(text) is not None
