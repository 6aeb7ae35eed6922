"""How settings are read: every value from the environment or `.env`, a wrong one named in a sentence."""

import os
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from dotenv import load_dotenv

load_dotenv(os.environ.get("SNAPSTATE_ENV_FILE", Path(__file__).resolve().parent.parent / ".env"))


def env(name: str, default: str = "") -> str:
    return os.environ.get(name) or default


def env_int(name: str, default: int) -> int:
    value = env(name, str(default))
    try:
        return int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}") from None


def env_bool(name: str, default: bool = False) -> bool:
    value = env(name, "true" if default else "false").lower()
    if value not in ("true", "false", "1", "0", "yes", "no", "on", "off"):
        raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}")
    return value in ("true", "1", "yes", "on")


def env_list(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in env(name, default).split(",") if part.strip()]


def env_choice(name: str, default: str, *choices: str) -> str:
    """One of these words, in whatever case."""
    value = env(name, default).upper()
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return value


ADDRESSES = {
    "DATABASE_URL": ("postgresql://user:password@host:5432/name", ("postgresql", "postgres")),
    "REDIS_URL": ("redis://:password@host:6379/0", ("redis", "rediss", "unix")),
    "CELERY_BROKER_URL": ("redis://:password@host:6379/1", ()),  # whatever Celery speaks
    "R2_ENDPOINT": ("https://storage.example.com", ("https", "http")),
}
"""What each looks like, and the schemes it may have; none named: any."""


def env_url(name: str, default: str) -> str:
    """What is said of a wrong one does not repeat it, for it may hold a password."""
    url = env(name, default)
    like, schemes = ADDRESSES[name]
    try:
        parts = urlsplit(url)
        is_right = parts.port is None or bool(parts.hostname)
    except ValueError:  # no port; or characters of a password that make one of it
        is_right = False
    if url and not (is_right and parts.scheme and (not schemes or parts.scheme in schemes)):
        raise ImproperlyConfigured(f"{name} must look like {like} (percent-encode what is special in a password)")
    return url


# A server whose machine is gone says nothing: without these the threads that wait for it would do so for hours.
VANISHED_SERVER = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 10_000}


def database(url: str) -> dict[str, Any]:
    parts, options = urlsplit(url), dict(parse_qsl(urlsplit(url).query))
    if not (parts.path.strip("/") or "service" in options):
        raise ImproperlyConfigured("DATABASE_URL names no database: postgresql://user:password@host:5432/name")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {"connect_timeout": 3, **VANISHED_SERVER, **options},
    }
