"""Statistics, days and errors counted again from the durable events, in one transaction."""

import sys
import time
from typing import Any

from django.core.management.base import BaseCommand

from analytics import services

WIDTH = 40
REDRAWN_EVERY_SECONDS = 0.2


class Command(BaseCommand):
    help = (
        "Count the last thirty days again from their events. Older days stay as they are; the relay may go on "
        "running: it waits for this."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        bar = Bar()
        since = services.rebuild(progress=bar.show)
        bar.end()
        self.stdout.write(f"Counted again: {since} and every day after it.")


class Bar:
    """Drawn over itself on a terminal; elsewhere only its end is written."""

    def __init__(self) -> None:
        self.began = self.drawn_at = time.monotonic()
        self.line = ""

    def show(self, done: int, total: int) -> None:
        share = done / total if total else 1.0
        seconds = time.monotonic() - self.began
        filled = "█" * round(share * WIDTH)
        self.line = f"{filled:░<{WIDTH}} {share:4.0%}  {done:,} of {total:,} events, {seconds:.0f} s"
        if sys.stderr.isatty() and time.monotonic() - self.drawn_at >= REDRAWN_EVERY_SECONDS:
            self.drawn_at = time.monotonic()
            sys.stderr.write(f"\r{self.line}")
            sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write(f"\r{self.line}\n" if sys.stderr.isatty() else f"{self.line}\n")
