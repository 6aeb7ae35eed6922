"""Our Python SDK as tests call it: one way of writing, run through the sync methods or through their async twins."""

import asyncio
import inspect
from collections.abc import AsyncIterator
from typing import Any

from snapstate_sdk import SnapStateClient

TWIN = "async_"


def methods() -> set[str]:
    """What the client can do, without the twins' names."""
    public = {name for name, _ in inspect.getmembers(SnapStateClient, callable) if not name.startswith("_")}
    return {name for name in public if not name.startswith(TWIN)}


class Twin:
    """`twin.save(…)` is `client.save(…)`, or `client.async_save(…)` run to its end; what iterates is a list."""

    def __init__(self, client: SnapStateClient, *, through_asyncio: bool) -> None:
        self.client = client
        self.runner = asyncio.Runner() if through_asyncio else None

    def __getattr__(self, name: str) -> Any:
        if self.runner is None:
            sync = getattr(self.client, name)
            return lambda *args, **kwargs: listed(sync(*args, **kwargs))
        twin, runner = getattr(self.client, TWIN + name), self.runner
        return lambda *args, **kwargs: runner.run(awaited(twin(*args, **kwargs)))

    def stop(self) -> None:
        if self.runner is not None:
            self.runner.run(self.client.async_close())
            self.runner.close()
        self.client.close()


def listed(found: Any) -> Any:
    return list(found) if hasattr(found, "__next__") else found


async def awaited(found: Any) -> Any:
    if isinstance(found, AsyncIterator):
        return [each async for each in found]
    return await found
