"""An agent on the client that openapi-python-client made: `consumer.py URL KEY STATE`; tells what it saw, as JSON."""

import json
import sys

from snapstate_generated import AuthenticatedClient
from snapstate_generated.api.agents import register_agent
from snapstate_generated.api.checkpoints import get_checkpoint, save_checkpoint
from snapstate_generated.api.workflows import list_workflows, replay_workflow, resume_workflow
from snapstate_generated.models import (
    AgentRecord,
    AgentRegistration,
    CheckpointDetail,
    CheckpointStatus,
    Conflict,
    ErrorResponse,
    JsonObject,
    ListWorkflowsMetadata,
    Replay,
    ResumedWorkflow,
    SavedCheckpoint,
    SaveRequest,
    WorkflowList,
)

WORKFLOW = "generated/python"


def save(client: AuthenticatedClient, step: int, state: JsonObject) -> SavedCheckpoint | Conflict | ErrorResponse:
    body = SaveRequest(
        workflow_id=WORKFLOW,
        step=step,
        state=state,
        label=f"step {step}",
        agent_id="generated",
        metadata=JsonObject.from_dict({"team": "red"}),
        status=CheckpointStatus.ACTIVE,
    )
    answer = save_checkpoint.sync(client=client, body=body)
    assert answer is not None
    return answer


def refusals(client: AuthenticatedClient, etag: str) -> dict[str, object]:
    conflict = save(client, 1, JsonObject.from_dict({"other": True}))
    assert isinstance(conflict, Conflict)
    assert conflict.existing is not None
    missing = resume_workflow.sync("no such", client=client)
    assert isinstance(missing, ErrorResponse)
    return {"existing": conflict.existing.etag == etag, "errors": [conflict.error.code, missing.error.code]}


def main(url: str, key: str, state: JsonObject) -> dict[str, object]:
    client = AuthenticatedClient(base_url=url, token=key)
    agent = register_agent.sync(client=client, body=AgentRegistration(agent_id="generated", capabilities=["save", ""]))
    assert isinstance(agent, AgentRecord)
    first, second = save(client, 1, JsonObject.from_dict({})), save(client, 2, state)
    assert isinstance(first, SavedCheckpoint)
    assert isinstance(second, SavedCheckpoint)
    resumed = resume_workflow.sync(WORKFLOW, client=client)
    assert isinstance(resumed, ResumedWorkflow)
    replayed = replay_workflow.sync(WORKFLOW, client=client, limit=1000)
    assert isinstance(replayed, Replay)
    got = get_checkpoint.sync(second.checkpoint_id, client=client)
    assert isinstance(got, CheckpointDetail)
    listed = list_workflows.sync(client=client, metadata=ListWorkflowsMetadata.from_dict({"metadata.team": "red"}))
    assert isinstance(listed, WorkflowList)
    return {
        **refusals(client, first.etag),
        "resumed": resumed.latest_checkpoint.state.to_dict(),
        "got": got.state.to_dict(),
        "replayed": [checkpoint.step for checkpoint in replayed.checkpoints],
        "capabilities": agent.capabilities,
        "listed": [workflow.workflow_id for workflow in listed.workflows],
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], JsonObject.from_dict(json.loads(sys.argv[3])))))
