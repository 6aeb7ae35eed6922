"""The figures that the documentation shows, from where the server has them: prices, allowances and limits."""

import json
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from accounts.keys import SCOPES
from billing import plans
from checkpoints.envelope import MAX_STATE_BYTES
from webhooks.services import MOST_ENDPOINTS

FACTS = Path(settings.BASE_DIR) / "docs" / "src" / "facts.json"


class Command(BaseCommand):
    help = "Write docs/src/facts.json; with --check, fail when it is not what would be written."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true")

    def handle(self, *_args: Any, check: bool, **_options: Any) -> None:
        text = json.dumps(facts(), indent=2) + "\n"
        if not check:
            FACTS.write_text(text)
        elif text != FACTS.read_text():
            self.stderr.write("docs/src/facts.json is old: run make docs")
            sys.exit(1)


def facts() -> dict[str, Any]:
    return {
        "version": settings.VERSION,
        "plan": {name: metric(name) for name in plans.METRICS},
        "scopes": list(SCOPES),
        "limits": limits(),
    }


def metric(name: str) -> dict[str, Any]:
    """The price stays text: as a number it would not be exact."""
    found = plans.METRICS[name]
    return {"label": plans.LABELS[name], "free": int(found.free), "price": f"{found.price}"}


def limits() -> dict[str, Any]:
    return {
        "rate_limit": settings.RATE_LIMIT_MAX,
        "rate_window_seconds": settings.RATE_LIMIT_WINDOW_MS // 1000,
        "ttl_seconds": settings.DEFAULT_TTL_SECONDS,
        "ttl_days": settings.DEFAULT_TTL_SECONDS // 86_400,
        "keys_per_account": settings.MAX_API_KEYS_PER_ACCOUNT,
        "agents_per_account": settings.MAX_AGENTS_PER_ACCOUNT,
        "webhooks_per_account": MOST_ENDPOINTS,
        "stalled_after_seconds": settings.STALLED_AFTER_SECONDS,
        "state_bytes": MAX_STATE_BYTES,
        "body_bytes": settings.MAX_BODY_BYTES,
    }
