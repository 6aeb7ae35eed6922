"""Registering agents, and finding them. The cap on their number holds however many register at once."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from accounts.services import locked
from agents_app.errors import AgentNotFound, MaxAgentsReached
from agents_app.models import Agent, AgentQuerySet

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class Position(msgspec.Struct, array_like=True):
    """Where a list stands: its point in time, and the last agent shown."""

    as_of: Moment
    last_seen_at: Moment | None
    created_at: Moment
    id: UUID


def register_agent(account_id: UUID, agent_id: str, fields: Mapping[str, Any]) -> Agent:
    """Make the agent, or change the given fields of the one there is. Raises MaxAgentsReached."""
    with transaction.atomic():
        locked(account_id)  # whoever else registers for this account waits, so that nobody counts too few
        agents = Agent.objects.filter(account_id=account_id)
        agent = agents.select_for_update(no_key=True).filter(agent_id=agent_id).first()
        if agent is None:
            if agents.count() >= settings.MAX_AGENTS_PER_ACCOUNT:
                raise MaxAgentsReached(settings.MAX_AGENTS_PER_ACCOUNT)
            return Agent.objects.create(account_id=account_id, agent_id=agent_id, **fields)
        return changed(agent, fields)


def change_agent(account_id: UUID, agent_id: str, fields: Mapping[str, Any]) -> Agent:
    return changed(get_agent(account_id, agent_id), fields)


def changed(agent: Agent, fields: Mapping[str, Any]) -> Agent:
    for name, value in fields.items():
        setattr(agent, name, value)
    # Only these: `last_seen_at` may have moved since the row was read. Nothing is written when it is gone since.
    if fields and not Agent.objects.filter(pk=agent.pk).update(**fields):
        raise AgentNotFound
    return agent


def get_agent(account_id: UUID, agent_id: str) -> Agent:
    agent = Agent.objects.filter(account_id=account_id, agent_id=agent_id).first()
    if agent is None:
        raise AgentNotFound
    return agent


def delete_agent(account_id: UUID, agent_id: str) -> None:
    if not Agent.objects.filter(account_id=account_id, agent_id=agent_id).delete()[0]:
        raise AgentNotFound


def delete_agents(account_id: UUID) -> None:
    """All of an account that is deleted itself."""
    Agent.objects.filter(account_id=account_id).delete()


def list_agents(account_id: UUID, *, limit: int, after: Position | None) -> tuple[list[Agent], Position | None]:
    """One page, last seen first and never seen last, and where the next begins (None at the end)."""
    found = Agent.objects.filter(account_id=account_id)
    if after:
        found = _behind(found, after)
    agents = list(found.order_by(F("last_seen_at").desc(nulls_last=True), "-created_at", "-id")[: limit + 1])
    if len(agents) <= limit:
        return agents, None
    last = agents[limit - 1]
    # The clock that sees agents is Redis's, and may be ahead of ours.
    as_of = after.as_of if after else max(timezone.now(), agents[0].last_seen_at or EPOCH)
    return agents[:limit], Position(as_of, last.last_seen_at, last.created_at, last.pk)


def _behind(found: AgentQuerySet, after: Position) -> AgentQuerySet:
    """Who comes after that agent, but for those that have moved to the top, or been added, since the first page."""
    found = found.filter(Q(last_seen_at__lte=after.as_of) | Q(last_seen_at=None), created_at__lte=after.as_of)
    older = Q(created_at__lt=after.created_at) | Q(created_at=after.created_at, id__lt=after.id)
    if after.last_seen_at is None:
        return found.filter(older, last_seen_at=None)
    seen_before = Q(last_seen_at__lt=after.last_seen_at) | Q(last_seen_at=None)
    return found.filter(seen_before | (Q(last_seen_at=after.last_seen_at) & older))


def known_agents(account_id: UUID, agent_ids: Iterable[str]) -> dict[str, tuple[str | None, datetime | None]]:
    """Name and time last seen of those that are registered; asked by the room of analytics, through the settings."""
    found = Agent.objects.filter(account_id=account_id, agent_id__in=list(agent_ids))
    return {agent.agent_id: (agent.name, agent.last_seen_at) for agent in found}
