"""A list of items as a workflow that is only appended to: a step says which items came, or that the last one went."""

from typing import Any
from uuid import uuid4

from snapstate_sdk.adapters.calling import Plan, ask
from snapstate_sdk.adapters.places import summary_of
from snapstate_sdk.adapters.records import TRIES, replay
from snapstate_sdk.adapters.shares import shares
from snapstate_sdk.calls.of_checkpoints import save
from snapstate_sdk.calls.of_workflows import erase
from snapstate_sdk.errors import ConflictError, NotFoundError, PayloadTooLargeError
from snapstate_sdk.outgoing import encoded

WINDOW = 50  # steps that are read at once, from the newest back, where not all are wanted
LONG_WINDOW = 1000
LARGEST = 1_048_576  # bytes of a state
TOO_LARGE = "an item may have 1 MiB; keep large contents elsewhere and their address here"

Head = tuple[int, str]
"""Step and etag of a workflow's newest."""


class History:
    """`options` go with every save. What is remembered of the head saves a call and decides nothing."""

    def __init__(self, workflow: str, options: dict[str, Any]) -> None:
        self.workflow = workflow
        self._options = options
        self._known: Head | None = None

    def items(self, most: int | None) -> Plan[list[Any]]:
        """The latest `most`, or all, in the order they came."""
        head = yield from self._head()
        return [] if head is None else (yield from self._up_to(head[0], most))

    def add(self, items: list[Any]) -> Plan[None]:
        """In one step, or in several, one after another; in none when one of the items cannot be saved."""
        parts = [{"items": part} for part in shares(items)]
        if len(parts) > 1 and any(len(encoded(part, "state")) > LARGEST for part in parts):
            raise PayloadTooLargeError(TOO_LARGE)
        for part in parts:
            yield from self._add(part)

    def _add(self, part: dict[str, Any]) -> Plan[None]:
        known, self._known = self._known, None
        head = known or (yield from self._head())
        for _ in range(TRIES):
            try:
                yield from self._append(head, part)
            except ConflictError:
                head = yield from self._head()
            except PayloadTooLargeError as error:
                error.add_note(TOO_LARGE)
                raise
            else:
                return
        raise ConflictError(f"{self.workflow}: others were quicker {TRIES} times")

    def pop(self) -> Plan[Any]:
        """The newest, now gone; None when there is none."""
        for _ in range(TRIES):
            head = yield from self._head()
            newest = [] if head is None else (yield from self._up_to(head[0], 1))
            if not newest:
                return None
            try:
                yield from self._append(head, {"gone": 1})
            except ConflictError:
                continue
            return newest[0]
        raise ConflictError(f"{self.workflow}: others were quicker {TRIES} times")

    def clear(self) -> Plan[None]:
        self._known = None
        try:
            yield from ask(erase(self.workflow))
        except NotFoundError:
            return

    def _head(self) -> Plan[Head | None]:
        summary = yield from summary_of(self.workflow)
        return None if summary is None else (summary.latest_step, summary.etag)

    def _append(self, head: Head | None, state: dict[str, Any]) -> Plan[None]:
        """The writer's name makes equal steps of two writers two: the server would take them for one, sent twice."""
        step = 0 if head is None else head[0] + 1
        guard: dict[str, Any] = {"if_none_match": "*"} if head is None else {"if_match": head[1]}
        metadata = {"kind": "openai-agents.session", "writer": uuid4().hex}
        saved = yield from ask(
            save(self.workflow, step, state, metadata=metadata, **guard, **self._options, diff=False)
        )
        self._known = (saved.step, saved.etag)

    def _up_to(self, step: int, most: int | None) -> Plan[list[Any]]:
        """Read from the newest step back, so that a few items of a long history cost little."""
        window = LONG_WINDOW if most is None else WINDOW
        found: list[Any] = []
        gone = 0
        while step >= 0 and (most is None or len(found) < most):
            for record in reversed(
                (yield from replay(self.workflow, from_step=max(0, step - window + 1), to_step=step))
            ):
                gone += record.state.get("gone", 0)
                items = record.state.get("items", [])
                staying = items[: max(0, len(items) - gone)]
                gone -= len(items) - len(staying)
                found += reversed(staying)
            step -= window
        return found[:most][::-1]
