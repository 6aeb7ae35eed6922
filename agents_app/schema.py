"""What OpenAPI says of this room's operations."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from agents_app.serializers import AgentChanges, AgentList, AgentRecord, AgentRegistration
from snapstate_project.common.ids import REGISTERED_AGENT_ID_SCHEMA
from snapstate_project.common.openapi import links
from snapstate_project.common.pagination import CURSOR_SCHEMA, LIMIT_SCHEMA

TAGS = ["Agents"]
AGENT = OpenApiParameter("agent_id", REGISTERED_AGENT_ID_SCHEMA, "path", description="The id it registered with.")
MISSING = OpenApiResponse(description="Not found, or another account's (`AGENT_NOT_FOUND`).")
TOO_MANY = OpenApiResponse(
    description="The request is not valid (`VALIDATION_ERROR`), or the account has as many agents as it may have"
    " (`MAX_AGENTS_REACHED`)."
)

REGISTER: dict[str, Any] = {
    "operation_id": "registerAgent",
    "tags": TAGS,
    "description": "An account has at most 50 agents, unless told otherwise.",
    "request": AgentRegistration,
    "responses": {201: OpenApiResponse(AgentRecord, description="Registered, or changed."), 400: TOO_MANY},
    "extensions": links("201", ("getAgent changeAgent deleteAgent", {"agent_id": "agent_id"})),
}
LIST: dict[str, Any] = {
    "operation_id": "listAgents",
    "tags": TAGS,
    "parameters": [
        OpenApiParameter("limit", LIMIT_SCHEMA, "query", description="Most per page."),
        OpenApiParameter("cursor", CURSOR_SCHEMA, "query", description="`next_cursor` of the page before."),
    ],
    "responses": {200: AgentList},
}
GET: dict[str, Any] = {
    "operation_id": "getAgent",
    "tags": TAGS,
    "parameters": [AGENT],
    "responses": {200: AgentRecord, 404: MISSING},
}
CHANGE: dict[str, Any] = {
    "operation_id": "changeAgent",
    "tags": TAGS,
    "parameters": [AGENT],
    "request": AgentChanges,
    "responses": {200: AgentRecord, 404: MISSING},
}
DELETE: dict[str, Any] = {
    "operation_id": "deleteAgent",
    "tags": TAGS,
    "parameters": [AGENT],
    "responses": {204: OpenApiResponse(description="Deleted. What it saved stays."), 404: MISSING},
}
