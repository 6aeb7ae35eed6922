"""Clients that save, resume and replay without a pause, and keep a diary of what they sent and what was answered."""

import http.client
import json
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tests.promises.stack import Stack, Tenant

TIMEOUT_SECONDS = 15.0
PAUSE_SECONDS = 0.05
LOST = (OSError, http.client.HTTPException)


class Shown(msgspec.Struct):
    """A checkpoint as resume and replay show it; the state's bytes as they stand in the answer."""

    step: int
    etag: str
    state: msgspec.Raw = msgspec.Raw()


class Resumed(msgspec.Struct):
    latest_checkpoint: Shown
    total_checkpoints: int
    source: str


class Replayed(msgspec.Struct):
    checkpoints: list[Shown]
    has_more: bool
    next_cursor: str | None


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Caller:
    """One keep-alive connection; never repeats a request by itself."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def call(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Raises one of LOST when there is no whole answer."""
        began = time.monotonic()
        try:
            self.connection.request(method, path, body, {**self.headers, **headers})
            response = self.connection.getresponse()
            content = response.read()
        except LOST:
            self.connection.close()
            raise
        names = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, names, content, time.monotonic() - began)

    def save(self, workflow: str, step: int, state: bytes, **headers: str) -> Answer:
        body = b'{"workflow_id": "%b", "step": %d, "state": %b}' % (workflow.encode(), step, state)
        return self.call("POST", "/checkpoints", body, **headers)

    def resume(self, workflow: str) -> Answer:
        return self.call("GET", f"/workflows/{workflow}/resume")

    def replay(self, workflow: str, **query: Any) -> Answer:
        words = "&".join(f"{name}={value}" for name, value in query.items())
        return self.call("GET", f"/workflows/{workflow}/replay?{words}")

    def history(self, workflow: str) -> list[Shown]:
        """Every step, page by page."""
        steps: list[Shown] = []
        more: dict[str, str] = {}
        while True:
            answer = self.replay(workflow, limit=200, **more)
            assert answer.status == 200, (answer.status, answer.body)
            page = msgspec.json.decode(answer.body, type=Replayed)
            steps += page.checkpoints
            if not page.has_more:
                return steps
            more = {"cursor": page.next_cursor or ""}

    def close(self) -> None:
        self.connection.close()


def state_of(workflow: str, step: int, revision: int = 0) -> bytes:
    """Grows slowly, as an agent's does; its spacing and numbers are lost by whoever writes it anew."""
    said = ", ".join(f'{{"role":"tool", "n":{n}}}' for n in range(max(0, step - 20), step))
    odd = f'"e" : 1E2, "o":1.0,  "big":9007199254740993, "l":[], "d":{{}}, "r":{revision}'
    return f'{{ "workflow":"{workflow}","step":{step}, {odd}, "said": [{said}] }}'.encode()


@dataclass
class Diary:
    """What one workflow's only writer knows. `doubtful` were sent, and no answer says whether they are stored."""

    acknowledged: dict[int, tuple[bytes, str]] = field(default_factory=dict)
    doubtful: dict[int, bytes] = field(default_factory=dict)
    writes: int = 0
    step: int = 0
    revision: int = 0

    @property
    def head(self) -> int:
        return max(self.acknowledged, default=-1)


class Client(threading.Thread):
    """Works on a few workflows of its own until it is told to stop.

    A patient client repeats a save until it is answered; an impatient one leaves it in doubt and goes on.
    """

    def __init__(self, stack: Stack, tenant: Tenant, *, patient: bool, workflows: Sequence[str] = ()) -> None:
        super().__init__(daemon=True, name="client")
        self.caller = Caller(stack.url, tenant.key)
        self.patient = patient
        self.names = list(workflows) or [f"{uuid.uuid4().hex[:12]}-{n}" for n in range(3)]
        self.diaries = {name: Diary() for name in self.names}
        self.stopping = threading.Event()
        self.random = random.Random(self.names[0])
        self.answered: Counter[str] = Counter()
        self.in_doubt: Counter[str] = Counter()
        self.refused: Counter[int] = Counter()
        self.wrong: list[str] = []
        self.answered_at: list[float] = []
        self.slowest = 0.0

    def run(self) -> None:
        while not self.stopping.is_set():
            name = self.random.choice(self.names)
            chance = self.random.random()
            if chance < 0.70:
                self.save_next(name, self.diaries[name])
            elif chance < 0.75 and self.patient:
                self.replace_head(name, self.diaries[name])
            elif chance < 0.80:
                self.save_again(name, self.diaries[name])
            elif self.diaries[name].acknowledged:  # to replay what nobody knows is answered, and costs nothing
                (self.resume if chance < 0.92 else self.replay)(name, self.diaries[name])
        self.caller.close()

    # --- What it does ---

    def save_next(self, name: str, diary: Diary) -> None:
        diary.step += 1
        self.save(name, diary, diary.step, state_of(name, diary.step))

    def replace_head(self, name: str, diary: Diary) -> None:
        if diary.head == diary.step > 0:
            diary.revision += 1
            etag = diary.acknowledged[diary.head][1]
            self.save(name, diary, diary.head, state_of(name, diary.head, diary.revision), **{"If-Match": etag})

    def save(self, name: str, diary: Diary, step: int, state: bytes, **headers: str) -> None:
        while True:
            answer = self.ask("save", lambda: self.caller.save(name, step, state, **headers))
            if answer and answer.status in (200, 201):
                diary.writes += 1
                diary.acknowledged[step] = (state, answer.headers["etag"])
                diary.doubtful.pop(step, None)
                return
            if answer and answer.status != 503:
                self.wrong.append(f"save {name} {step}: {answer.status} {answer.body!r}")
            diary.doubtful[step] = state
            if self.stopping.wait(PAUSE_SECONDS) or not self.patient:
                return

    def save_again(self, name: str, diary: Diary) -> None:
        """An old step once more: the first answer, and nothing counted."""
        if not diary.acknowledged:
            return
        step = self.random.choice(list(diary.acknowledged))
        state, etag = diary.acknowledged[step]
        if step == diary.head and diary.revision:
            return  # it may be a replacement, which only its own guard repeats
        if diary.revision and b'"r":0,' not in state:
            return
        answer = self.ask("again", lambda: self.caller.save(name, step, state))
        if answer and answer.status != 503 and (answer.status, answer.headers.get("etag")) != (200, etag):
            self.wrong.append(f"again {name} {step} {etag}: {answer.status} {answer.headers} {answer.body!r}")

    def resume(self, name: str, diary: Diary) -> None:
        answer = self.ask("resume", lambda: self.caller.resume(name))
        if answer is None or answer.status == 503:
            return
        if answer.status != 200:
            self.wrong.append(f"resume {name}: {answer.status} {answer.body!r}")
            return
        self.check(name, diary, msgspec.json.decode(answer.body, type=Resumed).latest_checkpoint, newest=True)

    def replay(self, name: str, diary: Diary) -> None:
        first = max(1, diary.step - self.random.randrange(40))
        answer = self.ask("replay", lambda: self.caller.replay(name, from_step=first, limit=30))
        if answer is None or answer.status == 503:
            return
        if answer.status != 200:
            self.wrong.append(f"replay {name}: {answer.status} {answer.body!r}")
            return
        page = msgspec.json.decode(answer.body, type=Replayed)
        shown = {step.step for step in page.checkpoints}
        last = max(shown, default=0) if page.has_more else diary.step
        missing = [step for step in diary.acknowledged if first <= step <= last and step not in shown]
        if missing:
            self.wrong.append(f"replay {name} from {first}: {missing} missing of {sorted(shown)}")
        for step in page.checkpoints:
            self.check(name, diary, step)

    # --- What it thinks of the answers ---

    def check(self, name: str, diary: Diary, shown: Shown, *, newest: bool = False) -> None:
        known = diary.acknowledged.get(shown.step)
        state = bytes(shown.state)
        same = known is not None and (state, shown.etag) == known
        doubtful = diary.doubtful.get(shown.step) == state
        if not (same or doubtful) or (newest and shown.step < diary.head):
            self.wrong.append(f"{name} shows step {shown.step} {shown.etag} {state!r}, known {known}, {diary.head}")

    def ask(self, what: str, call: Any) -> Answer | None:
        try:
            answer: Answer = call()
        except LOST:
            self.in_doubt[what] += 1
            self.stopping.wait(PAUSE_SECONDS)
            return None
        self.slowest = max(self.slowest, answer.seconds)
        if answer.status in (200, 201):
            self.answered[what] += 1
            self.answered_at.append(time.monotonic())
        else:
            self.refused[answer.status] += 1
            self.in_doubt[what] += answer.status == 503
            if answer.status == 503 and not answer.headers.get("retry-after", "").isdigit():
                self.wrong.append(f"{what}: 503 without Retry-After")
        return answer


class Load:
    """Several clients at once on one account."""

    def __init__(self, stack: Stack, tenant: Tenant, clients: list[Client]) -> None:
        self.stack, self.tenant, self.clients = stack, tenant, clients

    @property
    def saves(self) -> int:
        return self.answered("save")

    def answered(self, what: str) -> int:
        return sum(client.answered[what] for client in self.clients)

    def refused(self, status: int) -> int:
        return sum(client.refused[status] for client in self.clients)

    @property
    def slowest(self) -> float:
        return max(client.slowest for client in self.clients)

    @property
    def operations(self) -> int:
        return sum(client.answered.total() for client in self.clients)

    def diaries(self) -> Iterator[tuple[str, Diary]]:
        for client in self.clients:
            yield from client.diaries.items()

    def stop(self) -> None:
        for client in self.clients:
            client.stopping.set()
        for client in self.clients:
            client.join(TIMEOUT_SECONDS + 5)
            assert not client.is_alive()


@contextmanager
def load(stack: Stack, tenant: Tenant, *, clients: int = 4) -> Iterator[Load]:
    """Half of them are patient. Stopped at the end of the block; what they know stays."""
    made = Load(stack, tenant, [Client(stack, tenant, patient=n % 2 == 0) for n in range(clients)])
    for client in made.clients:
        client.start()
    try:
        yield made
    finally:
        made.stop()
