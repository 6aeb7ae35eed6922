"""The floor under every server: the same scripts through the same link, in one process, many to a write; no HTTP."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any
from uuid import UUID

import uvloop

from checkpoints import store
from checkpoints.ids import workflow_key
from checkpoints.verdicts import Resumed, Tail
from snapstate_project.dev.bench.bare import TWENTY, save_prepared
from snapstate_project.dev.bench.requests import Plan
from snapstate_project.dev.bench.slices import Order, Slice

type Turn = Callable[[], Coroutine[Any, Any, None]]


class Pipeline:
    """Needs Django's settings, which name the Redis."""

    def __init__(self, plan: Plan, account_id: UUID) -> None:
        self.plan = plan
        self.account_id = account_id
        self.lives = count()
        self.loop = uvloop.new_event_loop()

    def run(self, order: Order) -> Slice:
        return self.loop.run_until_complete(self.take_turns(order))

    async def take_turns(self, order: Order) -> Slice:
        result = Slice(0.0, [])
        began = time.perf_counter()
        turns = [self.turn(order, place) for place in range(order.connections)]
        await asyncio.gather(*[self.repeat(turn, began + order.seconds, result) for turn in turns])
        result.seconds = time.perf_counter() - began
        return result

    async def repeat(self, turn: Turn, until: float, result: Slice) -> None:
        while (began := time.perf_counter()) < until:
            await turn()
            result.latencies.append(time.perf_counter() - began)

    def turn(self, order: Order, place: int) -> Turn:
        return self.saving(order.size) if order.operation == "save" else self.reading(order, place)

    def saving(self, size: str) -> Turn:
        course = self.plan.growing[size]
        step, key = len(course.texts), workflow_key(self.account_id, "")

        async def save() -> None:
            nonlocal step, key
            if step == len(course.texts):
                step, key = 0, workflow_key(self.account_id, f"{self.plan.run}-pipeline-{next(self.lives)}")
            await save_prepared(key, step, course.digests[step], course.texts[step])
            step += 1

        return save

    def reading(self, order: Order, place: int) -> Turn:
        keys = [workflow_key(self.account_id, workflow) for workflow in self.plan.shelved(order.size)]
        places = count(place)

        async def resume() -> None:
            reply = await store.resume(keys[next(places) % len(keys)], b"", None)
            assert isinstance(reply, Resumed)

        async def replay() -> None:
            reply = await store.read(keys[next(places) % len(keys)], b"", TWENTY)
            assert isinstance(reply, Tail)

        return resume if order.operation == "resume" else replay
