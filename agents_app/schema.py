"""What OpenAPI says of this room's operations."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from agents_app.serializers import AgentChanges, AgentList, AgentRecord, NewAgent
from snapstate_project.common.ids import AGENT_ID_SCHEMA

TAGS = ["Agents"]
AGENT = OpenApiParameter("agent_id", AGENT_ID_SCHEMA, "path", description="The id it registered with.")

REGISTER: dict[str, Any] = {
    "operation_id": "register_agent",
    "tags": TAGS,
    "description": "An account has at most 50 agents, unless told otherwise: one more is a 400 `MAX_AGENTS_REACHED`.",
    "request": NewAgent,
    "responses": {201: OpenApiResponse(AgentRecord, description="Registered, or changed.")},
}
LIST: dict[str, Any] = {
    "operation_id": "list_agents",
    "tags": TAGS,
    "parameters": [
        OpenApiParameter(
            "limit",
            {"type": "integer", "minimum": 1, "maximum": 200, "default": 50},
            "query",
            description="Most per page.",
        ),
        OpenApiParameter("cursor", str, "query", description="`next_cursor` of the page before."),
    ],
    "responses": {200: AgentList},
}
GET: dict[str, Any] = {
    "operation_id": "get_agent",
    "tags": TAGS,
    "parameters": [AGENT],
    "responses": {200: AgentRecord},
}
CHANGE: dict[str, Any] = {
    "operation_id": "change_agent",
    "tags": TAGS,
    "parameters": [AGENT],
    "request": AgentChanges,
    "responses": {200: AgentRecord},
}
DELETE: dict[str, Any] = {
    "operation_id": "delete_agent",
    "tags": TAGS,
    "parameters": [AGENT],
    "responses": {204: OpenApiResponse(description="Deleted. What it saved stays.")},
}
