"""The API of agents: parse, call the service, answer."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from agents_app import schema, services
from agents_app.errors import AgentNotFound
from agents_app.serializers import AgentList, parse_changes, parse_new, record
from agents_app.services import Position
from snapstate_project.common.api import HotAPIView, HotRequest, json_response, query
from snapstate_project.common.ids import AGENT_ID, decoded_segment
from snapstate_project.common.pagination import CURSOR, DEFAULT_LIMIT, LIMIT, decode_cursor, encode_cursor

MANAGE = "agents:manage"


class AgentsView(HotAPIView):
    required_scopes = MANAGE

    @extend_schema(**schema.REGISTER)
    def post(self, request: HotRequest) -> HttpResponse:
        """Register an agent, or change the one with this id."""
        agent_id, fields = parse_new(request.body)
        return json_response(record(services.register_agent(request.caller.account_id, agent_id, fields)), 201)

    @extend_schema(**schema.LIST)
    def get(self, request: HotRequest) -> HttpResponse:
        """List agents, last seen first."""
        asked = query(request, {"limit": LIMIT, "cursor": CURSOR})
        after = decode_cursor(asked["cursor"], Position) if "cursor" in asked else None
        agents, following = services.list_agents(
            request.caller.account_id, limit=asked.get("limit", DEFAULT_LIMIT), after=after
        )
        cursor = encode_cursor(following) if following else None
        return json_response(AgentList([record(agent) for agent in agents], following is not None, cursor))


class AgentView(HotAPIView):
    required_scopes = MANAGE

    @extend_schema(**schema.GET)
    def get(self, request: HotRequest, agent_id: str) -> HttpResponse:
        """One agent."""
        query(request, {})
        return json_response(record(services.get_agent(request.caller.account_id, named(agent_id))))

    @extend_schema(**schema.CHANGE)
    def patch(self, request: HotRequest, agent_id: str) -> HttpResponse:
        """Change an agent."""
        fields = parse_changes(request.body)
        return json_response(record(services.change_agent(request.caller.account_id, named(agent_id), fields)))

    @extend_schema(**schema.DELETE)
    def delete(self, request: HotRequest, agent_id: str) -> HttpResponse:
        """Delete an agent."""
        services.delete_agent(request.caller.account_id, named(agent_id))
        return HttpResponse(status=204)


def named(segment: str) -> str:
    """The agent id in a path; what no agent can be called names none."""
    agent_id = decoded_segment(segment, "agent_id")
    if not AGENT_ID.fullmatch(agent_id):
        raise AgentNotFound
    return agent_id
