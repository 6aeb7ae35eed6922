"""What is sent and answered of an agent. Its metadata is the client's own JSON: kept and given back as it came."""

from typing import Annotated, Any

import msgspec

from agents_app.models import Agent
from snapstate_project.common.bodies import MAX_METADATA_BYTES, JSONObject, check_object, decoded
from snapstate_project.common.errors import ValidationFailed
from snapstate_project.common.ids import REGISTERED_AGENT_ID_SCHEMA, check_registered_agent_id
from snapstate_project.common.times import iso

Name = Annotated[str, msgspec.Meta(max_length=255)]
Description = Annotated[str, msgspec.Meta(max_length=2000)]
Capability = Annotated[str, msgspec.Meta(max_length=255)]
Capabilities = Annotated[list[Capability], msgspec.Meta(max_length=100)]
AgentId = Annotated[str, msgspec.Meta(extra_json_schema=REGISTERED_AGENT_ID_SCHEMA)]
Moment = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]


class AgentChanges(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What is left out stays as it is."""

    name: Name | msgspec.UnsetType | None = msgspec.UNSET
    description: Description | msgspec.UnsetType | None = msgspec.UNSET
    capabilities: Capabilities | msgspec.UnsetType = msgspec.UNSET
    metadata: JSONObject | msgspec.UnsetType = msgspec.UNSET

    def fields(self) -> dict[str, Any]:
        """As the model keeps them: only those that were sent."""
        sent: dict[str, Any] = {"name": self.name, "description": self.description}
        if self.capabilities is not msgspec.UNSET:
            sent["capabilities"] = msgspec.json.encode(self.capabilities).decode()
        if self.metadata is not msgspec.UNSET:
            sent["metadata"] = bytes(self.metadata)
            check_object(sent["metadata"], "metadata", MAX_METADATA_BYTES)
        return {name: value for name, value in sent.items() if value is not msgspec.UNSET}


class AgentRegistration(AgentChanges, frozen=True, kw_only=True):
    """An agent that is there already keeps what is left out."""

    agent_id: AgentId


class AgentRecord(msgspec.Struct):
    id: Annotated[str, msgspec.Meta(extra_json_schema={"format": "uuid"})]
    agent_id: str
    name: str | None
    description: str | None
    capabilities: list[str]
    metadata: JSONObject
    last_seen_at: Moment | None
    created_at: Moment


class AgentList(msgspec.Struct):
    agents: list[AgentRecord]
    has_more: bool
    next_cursor: str | None


_new = msgspec.json.Decoder(AgentRegistration)
_changes = msgspec.json.Decoder(AgentChanges)


def parse_new(body: bytes) -> tuple[str, dict[str, Any]]:
    """The id, and the fields to set."""
    new = decoded(body, _new)
    return check_registered_agent_id(new.agent_id), new.fields()


def parse_changes(body: bytes) -> dict[str, Any]:
    fields = decoded(body, _changes).fields()
    if not fields:
        raise ValidationFailed.at("body", "names nothing to change: name, description, capabilities or metadata")
    return fields


def record(agent: Agent) -> AgentRecord:
    return AgentRecord(
        id=str(agent.id),
        agent_id=agent.agent_id,
        name=agent.name,
        description=agent.description,
        capabilities=msgspec.json.decode(agent.capabilities, type=list[str]),
        metadata=msgspec.Raw(bytes(agent.metadata)),
        last_seen_at=iso(agent.last_seen_at) if agent.last_seen_at else None,
        created_at=iso(agent.created_at),
    )
