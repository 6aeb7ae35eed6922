"""Statistics, days and errors counted again from the durable events, in one transaction."""

from typing import Any

from django.core.management.base import BaseCommand

from analytics import services
from snapstate_project.common.bar import Bar


class Command(BaseCommand):
    help = (
        "Count the last thirty days again from their events. Older days stay as they are; the relay may go on "
        "running: it waits for this."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        bar = Bar("events")
        since = services.rebuild(progress=bar.show)
        bar.end()
        self.stdout.write(f"Counted again: {since} and every day after it.")
