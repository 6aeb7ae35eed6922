// An agent on the client that openapi-generator made (typescript-fetch): `node typescript-fetch.js URL KEY STATE`.
import {
  AgentsApi,
  CheckpointStatus,
  CheckpointsApi,
  Configuration,
  ConflictFromJSON,
  ErrorResponseFromJSON,
  ResponseError,
  WorkflowsApi,
  type SavedCheckpoint,
} from "./index.js";

type State = { [key: string]: unknown };

const [url, key, text] = process.argv.slice(2) as [string, string, string];
const state: State = JSON.parse(text);
const workflowId = "generated/typescript-fetch";
const configuration = new Configuration({ basePath: url, accessToken: key });
const checkpoints = new CheckpointsApi(configuration);
const workflows = new WorkflowsApi(configuration);

async function save(step: number, saved: State): Promise<SavedCheckpoint> {
  const status = CheckpointStatus.Active;
  return checkpoints.saveCheckpoint({ saveRequest: { workflowId, step, state: saved, metadata: { team: "green" }, status } });
}

async function refusal(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ResponseError) return await error.response.json();
    throw error;
  }
  throw new Error("it was not refused");
}

const agent = await new AgentsApi(configuration).registerAgent({
  agentRegistration: { agentId: "generated", capabilities: ["save", ""] },
});
const first = await save(1, {});
const second = await save(2, state);
const resumed = await workflows.resumeWorkflow({ workflowId });
const replayed = await workflows.replayWorkflow({ workflowId, limit: 1000 });
const got = await checkpoints.getCheckpoint({ checkpointId: second.checkpointId });
const conflict = ConflictFromJSON(await refusal(save(1, { other: true })));
const missing = ErrorResponseFromJSON(await refusal(workflows.resumeWorkflow({ workflowId: "no such" })));
const listed = await workflows.listWorkflows({ q: workflowId });

console.log(
  JSON.stringify({
    resumed: resumed.latestCheckpoint.state,
    got: got.state,
    replayed: replayed.checkpoints.map((checkpoint) => checkpoint.step),
    existing: conflict.existing?.etag === first.etag,
    errors: [conflict.error.code, missing.error.code],
    capabilities: agent.capabilities,
    listed: listed.workflows.map((workflow) => workflow.workflowId),
  }),
);
