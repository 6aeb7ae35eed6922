"""`deliver_due`: claim, commit, send, record. One thread talks to Postgres; a thread for each attempt only sends."""

import math
import threading
import time
from contextlib import suppress
from datetime import datetime
from queue import Empty, SimpleQueue

import structlog
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from webhooks import signing
from webhooks.claims import Parcel, claim, find_due
from webhooks.outcomes import Outcome, record
from webhooks.sender import Answer, post
from webhooks.turns import Turns

PASS_SECONDS = 30.0
LOOK_EVERY_SECONDS = 0.25
IDLE_SECONDS = 0.5
STOPPING_SECONDS = 8.0
LONGEST_PAUSE_SECONDS = 10.0

log = structlog.get_logger(__name__)
under_way_here = threading.Lock()


def deliver_due(
    *, now: datetime | None = None, seconds: float = PASS_SECONDS, stop: threading.Event | None = None
) -> int:
    """Send what is due until nothing is, or the time is over; how many attempts that were.

    Any number of processes may do so at once; within one, a second caller returns at once.
    """
    if not under_way_here.acquire(blocking=False):
        return 0
    try:
        return Round(now).run(seconds, stop or threading.Event())
    finally:
        under_way_here.release()


class Round:
    """`now` stands still when it is given: what is to be tried again later is then not due any more."""

    def __init__(self, now: datetime | None = None) -> None:
        self.now = now
        self.turns = Turns()
        self.outcomes: SimpleQueue[Outcome] = SimpleQueue()
        self.sending = 0
        self.attempts = 0

    def run(self, seconds: float, stop: threading.Event) -> int:
        """While anything is under way, what falls due is still handed out; only a stop or the end of time ends that."""
        until = time.monotonic() + seconds
        while not stop.is_set() and time.monotonic() < until and (self.hand_out() or self.sending):
            self.take_in()
        patience = time.monotonic() + STOPPING_SECONDS
        while self.sending and not (stop.is_set() and time.monotonic() > patience):
            self.take_in()
        return self.attempts

    def hand_out(self) -> bool:
        moment = self.now or timezone.now()
        granted = self.turns.share_out(find_due(moment))
        parcels = claim(granted, moment)
        for parcel in parcels:
            granted[parcel.due] -= 1
            threading.Thread(target=self.send, args=[parcel], name=f"send-{parcel.id}", daemon=True).start()
        for due, unused in granted.items():
            self.turns.give_back(due, unused)
        self.sending += len(parcels)
        return bool(parcels)

    def send(self, parcel: Parcel) -> None:
        """In a thread of its own, which must not touch the database."""
        sent_at = timezone.now()
        try:
            headers = signing.headers(parcel.message_id, int(sent_at.timestamp()), parcel.body, parcel.secrets)
            answer = post(parcel.url, headers, parcel.body)
        except Exception:
            log.exception("attempt_failed", delivery=parcel.id)
            answer = Answer(error="a fault of ours: it is tried again")
        self.outcomes.put(Outcome(parcel, sent_at, answer))

    def take_in(self) -> None:
        """What has come back; waits a little for the first."""
        found: list[Outcome] = []
        with suppress(Empty):
            found.append(self.outcomes.get(timeout=LOOK_EVERY_SECONDS))
            while True:
                found.append(self.outcomes.get_nowait())
        if found:
            record(found, self.now or timezone.now())
        for outcome in found:
            self.turns.give_back(outcome.parcel.due)
        self.sending -= len(found)
        self.attempts += len(found)


def keep_delivering(stop: threading.Event) -> None:
    """The process's own loop: beat only wakes those that have none."""
    pause = 0.0
    while not stop.wait(pause):
        try:
            deliver_due(seconds=math.inf, stop=stop)
            pause = IDLE_SECONDS
            continue
        except (OperationalError, InterfaceError) as error:
            log.warning("delivering_interrupted", error=str(error))
        except Exception:
            log.exception("delivering_failed")
        connection.close()  # the next round opens a new one
        pause = min(max(2 * pause, 1.0), LONGEST_PAUSE_SECONDS)
    connection.close()
