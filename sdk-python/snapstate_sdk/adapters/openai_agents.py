"""An OpenAI Agents SDK session in SnapState: an agent killed in one process goes on in another, its history intact."""

from typing import cast

from agents.items import TResponseInputItem
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from snapstate_sdk.adapters.calling import arun
from snapstate_sdk.adapters.history import History
from snapstate_sdk.adapters.naming import checked_prefix, workflow_id
from snapstate_sdk.client import SnapStateClient


class SnapStateSession:
    """`await Runner.run(agent, "…", session=SnapStateSession("chat-1", client))`.

    Several processes may use one session: each step is saved under the etag of the one before it, so nothing is lost
    and nothing counts twice. `client` stays the caller's to close; raises its errors. `prefix` begins the workflow's
    id; `agent_id` and `ttl_seconds` go with every save.
    """

    session_id: str
    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        client: SnapStateClient,
        *,
        prefix: str = "openai-agents",
        session_settings: SessionSettings | None = None,
        agent_id: str | None = None,
        ttl_seconds: int | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self.client = client
        self.workflow_id = workflow_id(checked_prefix(prefix), session_id)
        self._history = History(self.workflow_id, {"agent_id": agent_id, "ttl_seconds": ttl_seconds})

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """All of them in the order they came, or the latest `limit`."""
        most = resolve_session_limit(limit, self.session_settings)
        if most is not None and most <= 0:
            return []
        return await arun(self.client, self._history.items(most))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """In one step; in several, one after another, where one would not hold them."""
        await arun(self.client, self._history.add(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Takes the newest away, for this caller alone: of two that pop at once each gets another one."""
        return cast(TResponseInputItem | None, await arun(self.client, self._history.pop()))

    async def clear_session(self) -> None:
        """Erases the session from the server, for ever."""
        await arun(self.client, self._history.clear())
