"""`deliver_due`: claim, commit, send, record. One thread talks to Postgres; a thread for each attempt only sends."""

import math
import threading
import time
from contextlib import suppress
from datetime import datetime
from queue import Empty, SimpleQueue

import structlog
from django.db import connection
from django.utils import timezone

from snapstate_project.common.outages import is_postgres_outage
from webhooks import signing
from webhooks.claims import Parcel, claim, find_due
from webhooks.outcomes import FAULT_OF_OURS, Outcome, write_down
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
        return here.run(now, seconds, stop or threading.Event())
    finally:
        under_way_here.release()


class Rounds:
    """Of this process, one at a time. What a round that failed has left under way comes back to the next.

    `now` stands still when it is given: what is to be tried again later is then not due any more.
    """

    def __init__(self) -> None:
        self.now: datetime | None = None
        self.turns = Turns()
        self.outcomes: SimpleQueue[Outcome] = SimpleQueue()
        self.unwritten: list[Outcome] = []
        self.sending = 0
        self.attempts = 0

    def run(self, now: datetime | None, seconds: float, stop: threading.Event) -> int:
        """While anything is under way, what falls due is still handed out; only a stop or the end of time ends that."""
        self.now, self.attempts = now, 0
        until = time.monotonic() + seconds
        if self.sending:  # before a claim that has run out meanwhile sends anew what has arrived
            self.take_in()
        while not stop.is_set() and time.monotonic() < until and (self.hand_out() or self.sending):
            self.take_in()
        patience = time.monotonic() + STOPPING_SECONDS
        while self.sending and not (stop.is_set() and time.monotonic() > patience):
            self.take_in()
        return self.attempts

    def hand_out(self) -> bool:
        moment = self.now or timezone.now()
        granted = self.turns.share_out(find_due(moment))
        try:
            parcels = claim(granted, moment)
            for parcel in parcels:
                threading.Thread(target=self.send, args=[parcel], name=f"send-{parcel.id}", daemon=True).start()
                granted[parcel.due] -= 1
                self.sending += 1
        finally:
            for due, unused in granted.items():
                self.turns.give_back(due, unused)
        return bool(parcels)

    def send(self, parcel: Parcel) -> None:
        """In a thread of its own, which must not touch the database."""
        sent_at = timezone.now()
        try:
            headers = signing.headers(parcel.message_id, int(sent_at.timestamp()), parcel.body, parcel.secrets)
            answer = post(parcel.url, headers, parcel.body)
        except Exception:
            log.exception("attempt_failed", delivery=parcel.id)
            answer = Answer(error=FAULT_OF_OURS)
        self.outcomes.put(Outcome(parcel, sent_at, answer))

    def take_in(self) -> None:
        """What has come back; waits a little for the first. It is kept until it could be written down."""
        with suppress(Empty):
            self.unwritten.append(self.outcomes.get(timeout=LOOK_EVERY_SECONDS))
            while True:
                self.unwritten.append(self.outcomes.get_nowait())
        if self.unwritten:
            write_down(self.unwritten, self.now or timezone.now())
        for outcome in self.unwritten:
            self.turns.give_back(outcome.parcel.due)
        self.sending -= len(self.unwritten)
        self.attempts += len(self.unwritten)
        self.unwritten.clear()


here = Rounds()


def keep_delivering(stop: threading.Event) -> None:
    """The process's own loop: beat only wakes those that have none."""
    pause = 0.0
    while not stop.wait(pause):
        try:
            deliver_due(seconds=math.inf, stop=stop)
            pause = IDLE_SECONDS
            continue
        except Exception as error:
            if is_postgres_outage(error):
                log.warning("delivering_interrupted", error=str(error))
            else:
                log.exception("delivering_failed")
        connection.close()  # the next round opens a new one, and goes on with what is under way
        pause = min(max(2 * pause, 1.0), LONGEST_PAUSE_SECONDS)
    connection.close()
