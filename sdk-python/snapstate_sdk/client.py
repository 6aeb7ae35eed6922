"""The client: every endpoint that an API key reaches, sync and, with `async_` in front, for asyncio."""

import os
from types import TracebackType
from typing import Self

import httpx2

from snapstate_sdk.calls import of_agents, of_analytics, of_checkpoints, of_webhooks, of_workflows
from snapstate_sdk.connection import Connection, address
from snapstate_sdk.methods import async_each, async_whole, asynchronous, each, sync, whole
from snapstate_sdk.retries import Patience
from snapstate_sdk.session import AsyncWorkflowSession, OnError, WorkflowSession
from snapstate_sdk.version import __version__

DEFAULT_URL = "https://snapstate.dev"


class SnapStateClient:
    """Saves and resumes the work of agents. Safe for threads; one client for a whole program is best.

    What is lost on the way or put off (429, 503) is sent again until it is answered or the deadline is over.

    `api_key`: snp_…, or the environment's SNAPSTATE_API_KEY. `base_url`: or SNAPSTATE_API_URL, or
    https://snapstate.dev. `timeout`: seconds to connect, and between two pieces of an answer. `max_retries`: at most so
    many attempts, 1 for no second one; None: as many as the deadline allows. `deadline`: seconds for a call with all
    its attempts and waits. `transport`, `async_transport`: of httpx2, for proxies, certificates and tests.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: float = 30.0,
        max_retries: int | None = None,
        *,
        deadline: float = 120.0,
        transport: httpx2.BaseTransport | None = None,
        async_transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        key = (os.environ.get("SNAPSTATE_API_KEY", "") if api_key is None else api_key).strip()
        if not key:
            raise ValueError("api_key is required, as an argument or as SNAPSTATE_API_KEY in the environment")
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise ValueError("api_key has characters that no key has")
        self.base_url = address(base_url or os.environ.get("SNAPSTATE_API_URL") or DEFAULT_URL)
        self.max_retries = max_retries
        headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": f"snapstate-sdk-python/{__version__}",
        }
        patience = Patience(timeout, deadline, max_retries)
        self.connection = Connection(self.base_url, headers, patience, transport, async_transport)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self.base_url!r})"

    save = sync(of_checkpoints.save)
    async_save = asynchronous(of_checkpoints.save)
    get = sync(of_checkpoints.get)
    async_get = asynchronous(of_checkpoints.get)
    get_if_changed = sync(of_checkpoints.get_if_changed)
    async_get_if_changed = asynchronous(of_checkpoints.get_if_changed)

    resume = sync(of_workflows.resume)
    async_resume = asynchronous(of_workflows.resume)
    replay = sync(of_workflows.replay)
    async_replay = asynchronous(of_workflows.replay)
    checkpoints = each(of_workflows.checkpoints)
    async_checkpoints = async_each(of_workflows.checkpoints)
    diff = sync(of_workflows.diff)
    async_diff = asynchronous(of_workflows.diff)
    list_workflows = sync(of_workflows.list_workflows)
    async_list_workflows = asynchronous(of_workflows.list_workflows)
    workflows = each(of_workflows.workflows)
    async_workflows = async_each(of_workflows.workflows)
    get_workflow = sync(of_workflows.get_workflow)
    async_get_workflow = asynchronous(of_workflows.get_workflow)
    update_workflow = sync(of_workflows.update_workflow)
    async_update_workflow = asynchronous(of_workflows.update_workflow)
    erase = sync(of_workflows.erase)
    async_erase = asynchronous(of_workflows.erase)

    register_agent = sync(of_agents.register_agent)
    async_register_agent = asynchronous(of_agents.register_agent)
    agents = each(of_agents.agents)
    async_agents = async_each(of_agents.agents)
    list_agents = whole(of_agents.list_agents)
    async_list_agents = async_whole(of_agents.list_agents)
    get_agent = sync(of_agents.get_agent)
    async_get_agent = asynchronous(of_agents.get_agent)
    update_agent = sync(of_agents.update_agent)
    async_update_agent = asynchronous(of_agents.update_agent)
    delete_agent = sync(of_agents.delete_agent)
    async_delete_agent = asynchronous(of_agents.delete_agent)

    analytics_overview = sync(of_analytics.analytics_overview)
    async_analytics_overview = asynchronous(of_analytics.analytics_overview)
    analytics_workflow = sync(of_analytics.analytics_workflow)
    async_analytics_workflow = asynchronous(of_analytics.analytics_workflow)
    analytics_failures = sync(of_analytics.analytics_failures)
    async_analytics_failures = asynchronous(of_analytics.analytics_failures)
    analytics_agents = sync(of_analytics.analytics_agents)
    async_analytics_agents = asynchronous(of_analytics.analytics_agents)
    usage = sync(of_analytics.usage)
    async_usage = asynchronous(of_analytics.usage)
    health = sync(of_analytics.health)
    async_health = asynchronous(of_analytics.health)

    register_webhook = sync(of_webhooks.register_webhook)
    async_register_webhook = asynchronous(of_webhooks.register_webhook)
    webhooks = each(of_webhooks.webhooks)
    async_webhooks = async_each(of_webhooks.webhooks)
    list_webhooks = whole(of_webhooks.list_webhooks)
    async_list_webhooks = async_whole(of_webhooks.list_webhooks)
    get_webhook = sync(of_webhooks.get_webhook)
    async_get_webhook = asynchronous(of_webhooks.get_webhook)
    update_webhook = sync(of_webhooks.update_webhook)
    async_update_webhook = asynchronous(of_webhooks.update_webhook)
    delete_webhook = sync(of_webhooks.delete_webhook)
    async_delete_webhook = asynchronous(of_webhooks.delete_webhook)
    rotate_webhook_secret = sync(of_webhooks.rotate_webhook_secret)
    async_rotate_webhook_secret = asynchronous(of_webhooks.rotate_webhook_secret)
    test_webhook = sync(of_webhooks.test_webhook)
    async_test_webhook = asynchronous(of_webhooks.test_webhook)
    deliveries = each(of_webhooks.deliveries)
    async_deliveries = async_each(of_webhooks.deliveries)
    resend_delivery = sync(of_webhooks.resend_delivery)
    async_resend_delivery = asynchronous(of_webhooks.resend_delivery)

    def workflow(
        self,
        workflow_id: str,
        *,
        agent_id: str | None = None,
        ttl_seconds: int | None = None,
        on_error: OnError = "ignore",
    ) -> WorkflowSession:
        """`with client.workflow("wf_1", agent_id="a") as wf:` resumes it, or begins it; see `WorkflowSession`.

        `on_error`: what becomes of an exception that leaves the block, besides leaving it. "ignore": nothing is saved,
        and the next run goes on from the last checkpoint. "record": a step with the error. "fail": the same, and the
        workflow is failed.
        """
        return WorkflowSession(self, workflow_id, agent_id=agent_id, ttl_seconds=ttl_seconds, on_error=on_error)

    def async_workflow(
        self,
        workflow_id: str,
        *,
        agent_id: str | None = None,
        ttl_seconds: int | None = None,
        on_error: OnError = "ignore",
    ) -> AsyncWorkflowSession:
        """`async with client.async_workflow("wf_1", agent_id="a") as wf:` — as `workflow()`."""
        return AsyncWorkflowSession(self, workflow_id, agent_id=agent_id, ttl_seconds=ttl_seconds, on_error=on_error)

    def close(self) -> None:
        """Give back the connections of the sync side. A later call opens new ones."""
        self.connection.close()

    async def async_close(self) -> None:
        """Give back all connections of this event loop, and of the sync side."""
        self.connection.close()
        await self.connection.async_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.async_close()


CheckpointClient = SnapStateClient  # the name it had before 1.0
