"""The room of checkpoints: save, resume, replay, erase."""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from checkpoints.envelope import MAX_TTL_SECONDS

LIMITS = {
    "DEFAULT_TTL_SECONDS": (1, MAX_TTL_SECONDS),
    "ARCHIVE_THRESHOLD_SECONDS": (0, MAX_TTL_SECONDS),
    "STALLED_AFTER_SECONDS": (1, MAX_TTL_SECONDS),
}


class CheckpointsConfig(AppConfig):
    name = "checkpoints"

    def ready(self) -> None:
        checks.register(check_settings)


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    return [
        checks.Error(f"{name} must be from {least} to {most}, not {value}", id="checkpoints.E001")
        for name, (least, most) in LIMITS.items()
        if not least <= (value := getattr(settings, name)) <= most
    ]
