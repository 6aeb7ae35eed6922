"""What is sent: endless or finite runs of ready HTTP requests, each a list of buffers for one write."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count, cycle, groupby, islice
from operator import attrgetter

import orjson

from snapstate_project.dev.bench.slices import Order
from snapstate_project.dev.bench.states import AGENT, LABEL, Course, make_course, recorded_steps

type Buffers = list[bytes]

SIZES = {"2 KB": 2_000, "50 KB": 50_000}
OURS, BARE, PLAIN = "SnapState", "bare ASGI", "plain ASGI"
READS = ("resume", "replay")
LIFE, PAGE = 40, 20
"""Steps of a workflow that is being saved; steps of one that is resumed or replayed."""
LONG = 25
"""How many lives long the history is whose memory in Redis is looked at."""


@dataclass(frozen=True)
class Plan:
    """Where the contenders listen and what they are asked for.

    `masters`: the process of each whose children serve; `shelf`: how many workflows of each size there are to read.
    """

    addresses: dict[str, tuple[str, int]]
    masters: dict[str, int]
    key: str
    run: str
    shelf: dict[str, int]
    raw_bytes: int

    @cached_property
    def growing(self) -> dict[str, Course]:
        return {name: make_course(size, steps=LIFE, spread=0.6) for name, size in SIZES.items()}

    @cached_property
    def pages(self) -> dict[str, Course]:
        return {name: make_course(size, steps=PAGE, spread=0.2) for name, size in SIZES.items()}

    def shelved(self, size: str) -> list[str]:
        return [f"{self.run}-shelf-{size[:-3]}-{number}" for number in range(self.shelf[size])]

    def requests(self, order: Order, place: int) -> Iterator[Buffers]:
        """What the connection at `place` (of `order.connections`) sends, one after the other."""
        if order.operation == "save":
            return self.saves(order, place)
        if order.operation == "warm":
            return self.warm(order.size)
        if order.operation == "shelve":
            return self.shelve(order, place)
        if order.operation in READS:
            return self.reads(order, place)
        if order.operation == "record":
            return self.record(order, place)
        return self.histories(order.size)

    def saves(self, order: Order, place: int) -> Iterator[Buffers]:
        """A workflow lives its forty steps, then the next one begins."""
        course, contender = self.growing[order.size], order.contender
        for number in count():
            workflow = f"{self.run}-{contender[:4]}-{order.size[:-3]}-{place}-{order.connections}-{number}"
            for step, text in enumerate(course.texts):
                if contender == BARE:
                    yield self.bare_save(workflow, step, course.digests[step], text)
                elif order.encoding:
                    yield self.save(workflow, step, orjson.dumps(course.objects[step]))
                else:
                    yield self.save(workflow, step, text)

    def warm(self, size: str) -> Iterator[Buffers]:
        """One workflow that goes on for ever: every save but its first is warm."""
        course = self.growing[size]
        return (self.save(f"{self.run}-warm-{size[:-3]}", step, course.texts[step % LIFE]) for step in count())

    def shelve(self, order: Order, place: int) -> Iterator[Buffers]:
        for workflow in self.shelved(order.size)[place :: order.connections]:
            for step, text in enumerate(self.pages[order.size].texts):
                yield self.save(workflow, step, text)

    def reads(self, order: Order, place: int) -> Iterator[Buffers]:
        shelved = self.shelved(order.size)
        first = place * len(shelved) // order.connections
        paths = {
            ("resume", False): "/workflows/{}/resume",
            ("replay", False): f"/workflows/{{}}/replay?limit={PAGE}",
            ("resume", True): "/resume/{}",
            ("replay", True): "/replay/{}",
        }
        path = paths[order.operation, order.contender == BARE]
        ready = [[self.head("GET", path.format(workflow))] for workflow in shelved[first:] + shelved[:first]]
        return cycle(ready)

    def record(self, order: Order, place: int) -> Iterator[Buffers]:
        """Recorded runs, again and again as new workflows, until there are `raw_bytes` of states."""
        runs = [list(steps) for _, steps in groupby(recorded_steps(), attrgetter("run"))]
        room = self.raw_bytes / order.connections
        for number, steps in islice(enumerate(cycle(runs)), place, None, order.connections):
            if room <= 0:
                return
            room -= sum(len(step.text) for step in steps)
            for step in steps:
                yield self.save(f"{self.run}-{step.run}-{number}", step.step, step.text, label=step.label)

    def histories(self, size: str) -> Iterator[Buffers]:
        """One workflow of one life, and one of many that ends with the same steps."""
        course = self.growing[size]
        for workflow, lives in ((f"{self.run}-short", 1), (f"{self.run}-long", LONG)):
            for step in range(lives * LIFE):
                yield self.save(workflow, step, course.texts[step % LIFE])

    def save(self, workflow: str, step: int, text: bytes, *, label: str = LABEL) -> Buffers:
        fields = f'{{"workflow_id":"{workflow}","step":{step},"label":"{label}","agent_id":"{AGENT}","state":'.encode()
        return [b"%b%d\r\n\r\n%b" % (self.save_head, len(fields) + len(text) + 1, fields), text, b"}"]

    @cached_property
    def save_head(self) -> bytes:
        """Up to the length: a client builds the rest of its head once."""
        return self.head("POST", "/checkpoints", 0).partition(b"0\r\n\r\n")[0]

    def bare_save(self, workflow: str, step: int, digest: str, text: bytes) -> Buffers:
        return [self.head("POST", f"/save/{workflow}/{step}/{digest}", len(text)), text]

    def head(self, method: str, path: str, length: int | None = None) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {self.key}"]
        if length is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {length}"]
        return "\r\n".join([*lines, "\r\n"]).encode()
