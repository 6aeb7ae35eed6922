"""One connection to the API that shows everything: no repeats, no pool, the bytes as they came."""

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

import msgspec

TIMEOUT_SECONDS = 15.0
LOST = (OSError, http.client.HTTPException)


class Shown(msgspec.Struct):
    """A checkpoint as resume and replay show it; the state's bytes as they stand in the answer."""

    step: int
    etag: str
    state: msgspec.Raw = msgspec.Raw()
    metadata: msgspec.Raw = msgspec.Raw()


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

    @property
    def etag(self) -> str:
        return self.headers["etag"]

    @property
    def says_when(self) -> bool:
        """Whether it says when to come again."""
        return self.headers.get("retry-after", "").isdigit()


class Caller:
    """Keeps its connection while it can. Asks again after a 503, as clients should, unless it has no patience; never
    after an answer that was lost."""

    def __init__(self, url: str, key: str, *, patience_seconds: float = 10.0) -> None:
        parts = urlsplit(url)
        self.patience_seconds = patience_seconds
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def call(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Raises one of LOST when there is no whole answer."""
        until = time.monotonic() + self.patience_seconds
        while True:
            answer = self.call_once(method, path, body, **headers)
            if answer.status != 503 or time.monotonic() > until:
                return answer
            time.sleep(0.1)

    def call_once(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        began = time.monotonic()
        try:
            self.connection.request(method, path, body, {**self.headers, **headers})
            return self.answer(began)
        except LOST:
            self.connection.close()
            raise

    def answer(self, began: float) -> Answer:
        response = self.connection.getresponse()
        content = response.read()
        names = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, names, content, time.monotonic() - began)

    def save(self, workflow: str, step: int, state: bytes, **headers: str) -> Answer:
        body = b'{"workflow_id": "%b", "step": %d, "state": %b}' % (workflow.encode(), step, state)
        return self.call("POST", "/checkpoints", body, **headers)

    def save_steps(self, workflow: str, first: int, last: int) -> list[str]:
        """New steps one after the other; their etags."""
        answers = [self.save(workflow, step, state_of(workflow, step)) for step in range(first, last + 1)]
        assert {answer.status for answer in answers} <= {200, 201}, answers
        return [answer.etag for answer in answers]

    def resume(self, workflow: str) -> Answer:
        return self.call("GET", f"/workflows/{workflow}/resume")

    def replay(self, workflow: str, **query: Any) -> Answer:
        words = "&".join(f"{name}={value}" for name, value in query.items())
        return self.call("GET", f"/workflows/{workflow}/replay?{words}")

    def head(self, workflow: str) -> tuple[int, str, int]:
        """Step, etag and total, as resume tells them."""
        told = self.resume(workflow).json
        return told["latest_checkpoint"]["step"], told["latest_checkpoint"]["etag"], told["total_checkpoints"]

    def usage(self) -> dict[str, int]:
        """What was counted this month, by metric."""
        usage = self.call("GET", "/usage").json["usage"]
        return {name: used["count"] for name, used in usage.items() if "count" in used}

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


def state_of(workflow: str, step: int, revision: int = 0) -> bytes:
    """Grows slowly, as an agent's does; its spacing and numbers are lost by whoever writes it anew."""
    said = ", ".join(f'{{"role":"tool", "n":{n}}}' for n in range(max(0, step - 20), step))
    odd = f'"e" : 1E2, "o":1.0,  "big":9007199254740993, "l":[], "d":{{}}, "r":{revision}'
    return f'{{ "workflow":"{workflow}","step":{step}, {odd}, "said": [{said}] }}'.encode()
