"""The process that makes saves durable in Postgres, and tells every room what happened."""

import signal
import threading
from typing import Any

import structlog
from django.core.management.base import BaseCommand

from snapstate_project.common import stopping
from snapstate_project.events import intake, relay

log = structlog.get_logger(__name__)


class Command(BaseCommand):
    help = "Take the queue from Redis into Postgres and relay its events to their subscribers, until SIGTERM or SIGINT."

    def handle(self, *_args: Any, **_options: Any) -> None:
        stop = threading.Event()

        def leave(*_: Any) -> None:
            stop.set()
            stopping.begin()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, leave)
        relays = threading.Thread(target=relay.run_relays, args=(stop,), name="relays")
        relays.start()
        log.info("intake_started")
        try:
            intake.run(stop)
        finally:
            stop.set()
            relays.join()
        log.info("intake_stopped")
