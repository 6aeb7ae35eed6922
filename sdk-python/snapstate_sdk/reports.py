"""Answers that stay plain dicts, with their types: webhooks, analytics, usage, health. Times are ISO-8601 in UTC."""

from typing import Any, Literal, TypedDict


class Webhook(TypedDict, total=False):
    """`secret` is there only when the webhook is made or its secret rotated: it is never shown again."""

    webhook_id: str
    url: str
    events: list[str]
    description: str
    status: Literal["active", "disabled"]
    disabled_reason: str | None
    failing_since: str | None
    created_at: str
    secret: str


class WebhookPage(TypedDict):
    webhooks: list[Webhook]
    has_more: bool
    next_cursor: str | None


class Attempt(TypedDict):
    at: str
    status_code: int | None
    duration_ms: int
    error: str | None
    response: str


class Delivery(TypedDict):
    delivery_id: str
    event_id: str
    event: str
    status: Literal["pending", "delivered", "failed"]
    created_at: str
    next_attempt_at: str | None
    attempts: list[Attempt]


class DeliveryPage(TypedDict):
    deliveries: list[Delivery]
    has_more: bool
    next_cursor: str | None


class WebhookEvent(TypedDict):
    """What a webhook is sent. `event_id` is the same over attempts and resends; never a state in `data`."""

    type: str
    event_id: str
    timestamp: str
    webhook_id: str
    event: str
    data: dict[str, Any]


class Period(TypedDict):
    start: str
    end: str


class TopAgent(TypedDict):
    agent_id: str
    workflows: int
    avg_steps: float


class ActivityDay(TypedDict):
    date: str
    checkpoints: int
    resumes: int
    failures: int


class Overview(TypedDict):
    period: Period
    total_workflows: int
    completed_workflows: int
    failed_workflows: int
    active_workflows: int
    total_checkpoints: int
    avg_steps_per_workflow: float
    avg_workflow_duration_seconds: float
    top_agents: list[TopAgent]
    daily: list[ActivityDay]


class StepSeen(TypedDict):
    step: int
    label: str | None
    size_bytes: int
    time_since_previous_ms: int
    agent_id: str | None
    created_at: str


class WorkflowReport(TypedDict):
    workflow_id: str
    total_steps: int
    total_size_bytes: int
    duration_seconds: float
    status: str
    agents_involved: list[str]
    checkpoints: list[StepSeen]
    resumed: bool
    resumed_count: int
    error_count: int
    first_checkpoint_at: str
    last_checkpoint_at: str


class StepFailures(TypedDict):
    step: int
    count: int


class AgentFailures(TypedDict):
    agent_id: str
    count: int
    error_rate: float


class RecentFailure(TypedDict):
    workflow_id: str
    step: int
    agent_id: str | None
    error_type: str | None
    error_message: str | None
    created_at: str


class FailureReport(TypedDict):
    period_days: int
    total_failures: int
    failure_by_step: list[StepFailures]
    failure_by_agent: list[AgentFailures]
    recent_failures: list[RecentFailure]


class AgentReport(TypedDict):
    agent_id: str
    name: str
    total_workflows: int
    active_workflows: int
    avg_steps: float
    avg_duration_seconds: float
    total_checkpoints: int
    error_rate: float
    last_seen_at: str


class AgentReports(TypedDict):
    agents: list[AgentReport]


class Counted(TypedDict):
    count: int
    free_remaining: int
    billable: int


class Stored(TypedDict):
    """In GB of 2^30 bytes."""

    current: float
    free_remaining: float
    billable: float


class Used(TypedDict):
    checkpoint_writes: Counted
    storage_gb: Stored
    resume_calls: Counted
    replay_calls: Counted


class Usage(TypedDict):
    """Of this month (UTC). `estimated_charge` is text such as "$0.00"."""

    period: Period
    usage: Used
    estimated_charge: str


class Health(TypedDict):
    """`status` is "ok" or "degraded"; each tier is "connected" or "disconnected"."""

    status: str
    version: str
    uptime_seconds: int
    redis: str
    postgres: str
    r2: str
    intake_lag_seconds: float | None
    timestamp: str
