"""What OpenAPI says of this room's operations."""

from typing import Any, Literal

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter

from analytics.serializers import AgentReports, FailureReport, Overview, WorkflowReport
from snapstate_project.common.ids import AGENT_ID_SCHEMA, WORKFLOW_ID_SCHEMA

TAGS = ["Analytics"]
QUERY: Literal["query"] = "query"
DATES = [
    OpenApiParameter(
        "start_date", OpenApiTypes.DATE, QUERY, description="The first day (UTC); by default 29 days before the last."
    ),
    OpenApiParameter("end_date", OpenApiTypes.DATE, QUERY, description="The last day, included; by default today."),
]
DAYS = OpenApiParameter(
    "days",
    {"type": "integer", "minimum": 1, "maximum": 90, "default": 7},
    QUERY,
    description="How many times the last 24 hours.",
)
AGENT = OpenApiParameter("agent_id", AGENT_ID_SCHEMA, QUERY, description="Only failures of this agent.")

OVERVIEW: dict[str, Any] = {
    "operation_id": "getAnalyticsOverview",
    "tags": TAGS,
    "description": "What was done, by day. Trails a save by about two seconds.",
    "parameters": DATES,
    "responses": {200: Overview},
}
WORKFLOW: dict[str, Any] = {
    "operation_id": "getWorkflowAnalytics",
    "tags": TAGS,
    "description": "`stalled` is an active workflow without a save for a day, unless told otherwise.",
    "parameters": [
        OpenApiParameter(
            "workflow_id",
            WORKFLOW_ID_SCHEMA,
            "path",
            description="The workflow's id, percent-encoded (a slash in it as `%2F`).",
        )
    ],
    "responses": {200: WorkflowReport},
}
FAILURES: dict[str, Any] = {
    "operation_id": "getFailureAnalytics",
    "tags": TAGS,
    "parameters": [DAYS, AGENT],
    "responses": {200: FailureReport},
}
AGENTS: dict[str, Any] = {
    "operation_id": "getAgentAnalytics",
    "tags": TAGS,
    "parameters": DATES,
    "responses": {200: AgentReports},
}
