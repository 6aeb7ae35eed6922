"""Clients that save, resume and replay without a pause, and keep a diary of what they sent and what was answered."""

import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

import msgspec

from tests.promises.calling import LOST, TIMEOUT_SECONDS, Answer, Caller, Replayed, Resumed, Shown, state_of
from tests.promises.stack import Stack, Tenant, within

PAUSE_SECONDS = 0.05
WORKFLOWS = 3
SAVED = (200, 201)


@dataclass
class Diary:
    """What one workflow's only writer knows: `acknowledged` steps with state and etag; `doubtful` ones were sent, and
    no answer says whether they are stored. `writes` counts acknowledged revisions."""

    acknowledged: dict[int, tuple[bytes, str]] = field(default_factory=dict)
    doubtful: dict[int, bytes] = field(default_factory=dict)
    writes: int = 0
    step: int = 0
    revision: int = 0

    @property
    def head(self) -> int:
        return max(self.acknowledged, default=-1)

    def matches(self, shown: Shown) -> bool:
        state = bytes(shown.state)
        return self.acknowledged.get(shown.step) == (state, shown.etag) or self.doubtful.get(shown.step) == state


class Client(threading.Thread):
    """Works on a few workflows of its own until it is told to stop.

    A patient client repeats a save until it is answered; an impatient one leaves it in doubt and goes on.
    """

    def __init__(self, stack: Stack, tenant: Tenant, *, patient: bool) -> None:
        super().__init__(daemon=True, name="client")
        self.caller = Caller(stack.url, tenant.key, patience_seconds=0)
        self.patient = patient
        self.diaries = {f"{uuid.uuid4().hex[:12]}-{n}": Diary() for n in range(WORKFLOWS)}
        self.random = random.Random(next(iter(self.diaries)))
        self.stopping, self.paused, self.resting = threading.Event(), threading.Event(), threading.Event()
        self.answered: Counter[str] = Counter()
        self.in_doubt: Counter[str] = Counter()
        self.refused: Counter[tuple[str, int]] = Counter()
        self.wrong: list[str] = []
        self.saved_at: list[float] = []

    def run(self) -> None:
        with self.caller:
            while not self.stopping.is_set():
                if self.paused.is_set():
                    self.resting.set()
                    time.sleep(PAUSE_SECONDS)
                else:
                    self.resting.clear()
                    self.act(*self.random.choice(list(self.diaries.items())))

    def act(self, name: str, diary: Diary) -> None:
        chance = self.random.random()
        if chance < 0.70 or not diary.acknowledged:
            self.save_next(name, diary)
        elif chance < 0.75 and self.patient and diary.head == diary.step:
            self.replace_head(name, diary)
        elif chance < 0.80:
            self.save_again(name, diary)
        elif chance < 0.92:
            self.resume(name, diary)
        else:
            self.replay(name, diary)

    # --- What it does ---

    def save_next(self, name: str, diary: Diary) -> None:
        diary.step += 1
        self.save(name, diary, diary.step, state_of(name, diary.step))

    def replace_head(self, name: str, diary: Diary) -> None:
        diary.revision += 1
        guard = diary.acknowledged[diary.head][1]
        self.save(name, diary, diary.head, state_of(name, diary.head, diary.revision), **{"If-Match": guard})

    def save(self, name: str, diary: Diary, step: int, state: bytes, **headers: str) -> None:
        diary.doubtful[step] = state
        while True:
            answer = self.ask("save", SAVED, lambda: self.caller.save(name, step, state, **headers))
            if answer:
                diary.writes += 1
                diary.acknowledged[step] = (state, answer.etag)
                del diary.doubtful[step]
                self.saved_at.append(time.monotonic())
            elif self.patient and not self.stopping.wait(PAUSE_SECONDS):
                continue
            return

    def save_again(self, name: str, diary: Diary) -> None:
        """An old step once more: the first answer, nothing counted. (A replacement is repeated with its guard only.)"""
        step = self.random.choice(list(diary.acknowledged))
        state, etag = diary.acknowledged[step]
        if state == state_of(name, step) and step not in diary.doubtful:
            answer = self.ask("again", SAVED[:1], lambda: self.caller.save(name, step, state))
            if answer and answer.etag != etag:
                self.wrong.append(f"again {name} {step} {etag}: {answer}")

    def resume(self, name: str, diary: Diary) -> None:
        answer = self.ask("resume", SAVED[:1], lambda: self.caller.resume(name))
        if answer:
            shown = msgspec.json.decode(answer.body, type=Resumed).latest_checkpoint
            if shown.step < diary.head or not diary.matches(shown):
                self.wrong.append(f"resume {name} shows {shown}, head {diary.head} {diary.acknowledged[diary.head]}")

    def replay(self, name: str, diary: Diary) -> None:
        first = max(1, diary.step - self.random.randrange(40))
        answer = self.ask("replay", SAVED[:1], lambda: self.caller.replay(name, from_step=first, limit=30))
        if answer:
            page = msgspec.json.decode(answer.body, type=Replayed)
            shown = {step.step for step in page.checkpoints}
            last = max(shown, default=0) if page.has_more else diary.step
            missing = [step for step in diary.acknowledged if first <= step <= last and step not in shown]
            false = [step for step in page.checkpoints if not diary.matches(step)]
            if missing or false:
                self.wrong.append(f"replay {name} from {first}: {missing} missing of {sorted(shown)}; false {false}")

    def ask(self, what: str, right: tuple[int, ...], call: Callable[[], Answer]) -> Answer | None:
        """The answer if it is the right one; 503 is never wrong as long as it says when to come again."""
        try:
            answer = call()
        except LOST:
            self.in_doubt[what] += 1
            self.stopping.wait(PAUSE_SECONDS)
            return None
        if answer.status in right:
            self.answered[what] += 1
            return answer
        self.refused[what, answer.status] += 1
        self.in_doubt[what] += 1
        if answer.status != 503 or not answer.says_when:
            self.wrong.append(f"{what}: {answer}")
        return None


class Load:
    """Several clients at once on one account."""

    def __init__(self, stack: Stack, tenant: Tenant, clients: list[Client]) -> None:
        self.stack, self.tenant, self.clients = stack, tenant, clients

    def answered(self, what: str) -> int:
        return sum(client.answered[what] for client in self.clients)

    def in_doubt(self, what: str) -> int:
        return sum(client.in_doubt[what] for client in self.clients)

    def refused(self, what: str) -> int:
        """How many got a 503."""
        return sum(client.refused[what, 503] for client in self.clients)

    @property
    def operations(self) -> int:
        return sum(client.answered.total() for client in self.clients)

    @property
    def wrong(self) -> list[str]:
        return [word for client in self.clients for word in client.wrong]

    def diaries(self) -> Iterator[tuple[str, Diary]]:
        for client in self.clients:
            yield from client.diaries.items()

    def longest_silence(self, began: float, ended: float) -> float:
        """The longest time between two acknowledged saves, in seconds."""
        times = sorted(at for client in self.clients for at in client.saved_at if began < at < ended)
        return max(later - earlier for earlier, later in pairwise([began, *times, ended]))

    def pause(self) -> None:
        """Returns when every client has its answer and asks nothing."""
        for client in self.clients:
            client.resting.clear()
            client.paused.set()
        assert all(client.resting.wait(TIMEOUT_SECONDS) for client in self.clients)

    def go_on(self) -> None:
        for client in self.clients:
            client.paused.clear()

    def stop(self) -> None:
        for client in self.clients:
            client.stopping.set()
        assert within(TIMEOUT_SECONDS + 5, lambda: not any(client.is_alive() for client in self.clients))


@contextmanager
def load(stack: Stack, tenant: Tenant, *, clients: int = 4) -> Iterator[Load]:
    """Every other client is patient. Stopped at the end of the block; what they know stays."""
    made = Load(stack, tenant, [Client(stack, tenant, patient=n % 2 == 0) for n in range(clients)])
    for client in made.clients:
        client.start()
    try:
        yield made
    finally:
        made.stop()
