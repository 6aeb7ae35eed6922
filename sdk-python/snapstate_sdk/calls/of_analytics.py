"""Analytics, usage and health: plain dicts, typed in `reports`. Dates are days in UTC, both inclusive."""

import json
from datetime import date

from snapstate_sdk.call import Answer, Call, plain
from snapstate_sdk.outgoing import query, segment
from snapstate_sdk.reports import AgentReports, FailureReport, Health, Overview, Usage, WorkflowReport

Day = str | date


def analytics_overview(start_date: Day | None = None, end_date: Day | None = None) -> Call[Overview]:
    """Workflows, checkpoints and agents of a period; the last 30 days unless told otherwise."""
    return Call("GET", "/analytics/overview" + query(start_date=start_date, end_date=end_date), plain)


def analytics_workflow(workflow_id: str) -> Call[WorkflowReport]:
    """One workflow, step by step (at most 1,000 steps). Raises NotFoundError."""
    return Call("GET", f"/analytics/workflows/{segment(workflow_id, 'workflow_id')}", plain)


def analytics_failures(days: int | None = None, agent_id: str | None = None) -> Call[FailureReport]:
    """What failed, by step and by agent, in the last `days` (1 to 90; 7 unless told otherwise)."""
    return Call("GET", "/analytics/failures" + query(days=days, agent_id=agent_id), plain)


def analytics_agents(start_date: Day | None = None, end_date: Day | None = None) -> Call[AgentReports]:
    """How each agent did in a period; the last 30 days unless told otherwise."""
    return Call("GET", "/analytics/agents" + query(start_date=start_date, end_date=end_date), plain)


def usage() -> Call[Usage]:
    """What was used this month (UTC), and what it costs."""
    return Call("GET", "/usage", plain)


def health() -> Call[Health]:
    """How the service is, also when it is not well: a 503 is an answer here, and is not asked for again."""
    return Call("GET", "/health", _health, understood=frozenset({503}))


def _health(answer: Answer) -> Health:
    found: Health = json.loads(answer.content)
    if "redis" not in found:
        raise TypeError("not a report on health")
    return found
