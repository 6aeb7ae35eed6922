"""The API of analytics: parse, read the report, answer."""

import msgspec
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema

from analytics import reports, schema
from analytics.serializers import AgentReports, FailureReport, Overview, WorkflowReport
from analytics.timeline import workflow_report
from analytics.windows import window_of
from snapstate_project.common.api import HotAPIView, HotRequest, day, integer, json_response, query
from snapstate_project.common.ids import agent, workflow_id_from_path
from snapstate_project.common.query import Parser

READ = "analytics:read"
DATES: dict[str, Parser] = {"start_date": day, "end_date": day}
FAILURES: dict[str, Parser] = {"days": integer(1, 90), "agent_id": agent}
DEFAULT_DAYS = 7


def answer(report: reports.Report, fields: type[msgspec.Struct]) -> HttpResponse:
    """With exactly these fields, of exactly these types."""
    return json_response(msgspec.convert(report, fields))


class OverviewView(HotAPIView):
    required_scopes = READ

    @extend_schema(**schema.OVERVIEW)
    def get(self, request: HotRequest) -> HttpResponse:
        """Workflows, checkpoints and agents of a period."""
        asked = query(request, DATES)
        window = window_of(asked.get("start_date"), asked.get("end_date"), now=timezone.now())
        return answer(reports.overview(request.caller.account_id, window), Overview)


class WorkflowReportView(HotAPIView):
    required_scopes = READ

    @extend_schema(**schema.WORKFLOW)
    def get(self, request: HotRequest, workflow_id: str) -> HttpResponse:
        """One workflow, step by step."""
        query(request, {})
        workflow_id = workflow_id_from_path(workflow_id)
        report = workflow_report(request.caller.account_id, workflow_id, now=timezone.now())
        return answer(report, WorkflowReport)


class FailuresView(HotAPIView):
    required_scopes = READ

    @extend_schema(**schema.FAILURES)
    def get(self, request: HotRequest) -> HttpResponse:
        """What failed, by step and by agent."""
        asked = query(request, FAILURES)
        report = reports.failures(
            request.caller.account_id,
            days=asked.get("days", DEFAULT_DAYS),
            agent_id=asked.get("agent_id"),
            now=timezone.now(),
        )
        return answer(report, FailureReport)


class AgentsReportView(HotAPIView):
    required_scopes = READ

    @extend_schema(**schema.AGENTS)
    def get(self, request: HotRequest) -> HttpResponse:
        """How each agent did in a period."""
        asked = query(request, DATES)
        window = window_of(asked.get("start_date"), asked.get("end_date"), now=timezone.now())
        return answer(reports.agents(request.caller.account_id, window), AgentReports)
