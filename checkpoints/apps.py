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
COMPRESSIONS = ("zstd", "gzip")


class CheckpointsConfig(AppConfig):
    name = "checkpoints"

    def ready(self) -> None:
        checks.register(check_settings)


def check_settings(**_: Any) -> list[checks.CheckMessage]:
    found: list[checks.CheckMessage] = [
        checks.Error(f"{name} must be from {least} to {most}, not {value}", id="checkpoints.E001")
        for name, (least, most) in LIMITS.items()
        if not least <= (value := getattr(settings, name)) <= most
    ]
    if (how := settings.ARCHIVE_COMPRESSION) not in COMPRESSIONS:
        said = f"ARCHIVE_COMPRESSION must be {' or '.join(COMPRESSIONS)}, not {how!r}"
        found.append(checks.Error(said, id="checkpoints.E002"))
    return found
