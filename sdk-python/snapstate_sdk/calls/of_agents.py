"""Agents: who is registered."""

from collections.abc import Mapping, Sequence
from typing import Any

from snapstate_sdk import reading
from snapstate_sdk.call import Call, Pages, nothing
from snapstate_sdk.models import Agent
from snapstate_sdk.outgoing import body, query, segment


def path_of(agent_id: str) -> str:
    return f"/agents/{segment(agent_id, 'agent_id')}"


def register_agent(
    agent_id: str,
    name: str | None = None,
    description: str | None = None,
    capabilities: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Call[Agent]:
    """Register an agent, or change the one with this id; what is left out keeps its value.

    `agent_id`: 1 to 255 of letters, digits and `_.:-`. Raises ValidationError with the code MAX_AGENTS_REACHED.
    """
    given = body(agent_id=agent_id, name=name, description=description, capabilities=capabilities, metadata=metadata)
    return Call("POST", "/agents", reading.agent, given)


def agents(*, page_size: int | None = None) -> Pages[Agent]:
    """All agents, last seen first, page after page as they are read. `page_size`: 1 to 200."""

    def page(cursor: str | None) -> Call[tuple[list[Agent], str | None]]:
        asked = Call("GET", "/agents" + query(limit=page_size, cursor=cursor), reading.agent_page)
        return asked.then(lambda found: (found.agents, found.next_cursor))

    return Pages(page)


def list_agents() -> Pages[Agent]:
    """All agents as a list, last seen first."""
    return agents(page_size=200)


def get_agent(agent_id: str) -> Call[Agent]:
    """One agent. Raises NotFoundError."""
    return Call("GET", path_of(agent_id), reading.agent)


def update_agent(
    agent_id: str,
    *,
    name: str | None = None,
    description: str | None = None,
    capabilities: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Call[Agent]:
    """Change what is given. Raises NotFoundError; ValidationError when nothing is."""
    given = body(name=name, description=description, capabilities=capabilities, metadata=metadata)
    return Call("PATCH", path_of(agent_id), reading.agent, given)


def delete_agent(agent_id: str) -> Call[None]:
    """Forget an agent; its checkpoints stay. Raises NotFoundError."""
    return Call("DELETE", path_of(agent_id), nothing, gone_is_done=True)
