"""Every field of this room's answers."""

from typing import Annotated, Literal

import msgspec

Moment = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]
Day = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date"})]
Status = Annotated[Literal["active", "completed", "failed", "stalled"], msgspec.Meta(title="WorkflowStatus")]
Rate = Annotated[float, msgspec.Meta(ge=0, le=1, description="Workflows in which it failed ÷ its workflows.")]


class ReportPeriod(msgspec.Struct):
    """Both days are part of it."""

    start: Day
    end: Day


class TopAgent(msgspec.Struct):
    agent_id: str
    workflows: int
    avg_steps: float


class ActivityDay(msgspec.Struct):
    """`checkpoints` are writes, replacements included; `failures` are saves that told of an error or failed."""

    date: Day
    checkpoints: int
    resumes: int
    failures: int


class Overview(msgspec.Struct):
    """Of the workflows that were under way in the period, by the status of their heads now.

    `total_checkpoints` are the newest revisions that were saved in the period; averages are of workflows as wholes.
    """

    period: ReportPeriod
    total_workflows: int
    completed_workflows: int
    failed_workflows: int
    active_workflows: int
    total_checkpoints: int
    avg_steps_per_workflow: float
    avg_workflow_duration_seconds: float
    top_agents: list[TopAgent]
    daily: list[ActivityDay]


class StepReport(msgspec.Struct):
    """`time_since_previous_ms` is since the step before; 0 for the first, and for one that was saved before that."""

    step: int
    label: str | None
    size_bytes: int
    time_since_previous_ms: int
    agent_id: str | None
    created_at: Moment


class WorkflowReport(msgspec.Struct):
    """`checkpoints` are the newest 1,000, in step order."""

    workflow_id: str
    total_steps: int
    total_size_bytes: int
    duration_seconds: float
    status: Status
    agents_involved: list[str]
    checkpoints: list[StepReport]
    resumed: bool
    resumed_count: int
    error_count: int
    first_checkpoint_at: Moment
    last_checkpoint_at: Moment


class StepFailures(msgspec.Struct):
    step: int
    count: int


class AgentFailures(msgspec.Struct):
    agent_id: str
    count: int
    error_rate: Rate


class RecentFailure(msgspec.Struct):
    workflow_id: str
    step: int
    agent_id: str | None
    error_type: str | None
    error_message: str | None
    created_at: Moment


class FailureReport(msgspec.Struct):
    """A failure is a save that told of an error, or whose status is `failed`.

    The most frequent steps and agents come first, 1,000 at most of each. `recent_failures` are the newest 20.
    """

    period_days: int
    total_failures: int
    failure_by_step: list[StepFailures]
    failure_by_agent: list[AgentFailures]
    recent_failures: list[RecentFailure]


class AgentReport(msgspec.Struct):
    """Of an agent that saved; `name` is its id where it is not registered."""

    agent_id: str
    name: str
    total_workflows: int
    active_workflows: int
    avg_steps: float
    avg_duration_seconds: float
    total_checkpoints: int
    error_rate: Rate
    last_seen_at: Moment


class AgentReports(msgspec.Struct):
    """Those with the most workflows come first, 1,000 at most."""

    agents: list[AgentReport]
