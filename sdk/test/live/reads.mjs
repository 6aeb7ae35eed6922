/** Every method that reads, once, of what writes.mjs wrote: `node reads.mjs WORKFLOW`. */

import assert from "node:assert/strict";
import { SnapStateClient } from "@snapstate/sdk";

const id = process.argv[2];
const client = new SnapStateClient();

const got = await client.get(`cp_${id}_002`);
assert.deepEqual(
  [got.state, got.metadata, got.status, got.error],
  [{ a_b: 2, list: [] }, { run_id: "r", runId: 7 }, "failed", { type: "Lost", message: "m" }],
);
assert.deepEqual(got.diffFromPrevious.changed, ["a_b"]);
assert.equal(await client.get(`cp_${id}_002`, { ifNoneMatch: got.etag }), null);

const resumed = await client.resume(id, { agentId: "an-agent" });
assert.deepEqual(
  [resumed.latestCheckpoint.step, resumed.latestCheckpoint.etag, resumed.totalCheckpoints],
  [2, got.etag, 2],
);
assert.ok(["hot", "warm", "archive"].includes(resumed.source));

const steps = [];
for await (const checkpoint of client.replay(id, { limit: 1 })) steps.push(checkpoint.step);
assert.deepEqual(steps, [1, 2]);
const page = await client.replay(id, { fromStep: 2, toStep: 2, label: "two", includeState: false });
assert.deepEqual([page.total, page.hasMore, "state" in page.checkpoints[0]], [1, false, false]);
assert.deepEqual(await client.diff(id, { fromStep: 1, toStep: 2 }), {
  workflowId: id,
  fromStep: 1,
  toStep: 2,
  diff: { added: [], removed: [], changed: ["a_b"] },
});

const found = await client.listWorkflows({
  status: "failed",
  agentId: "an-agent",
  label: "two",
  metadata: { runId: 7, run_id: "r" },
  q: id,
});
assert.deepEqual(
  found.workflows.map((each) => [each.workflowId, each.latestStep, each.metadata.run_id]),
  [[id, 2, "r"]],
);
const all = [];
for await (const workflow of client.listWorkflows({
  limit: 1,
  updatedAfter: new Date(0),
  updatedBefore: new Date(Date.now() + 60_000),
}))
  all.push(workflow.workflowId);
assert.deepEqual(all.sort(), [id, `${id}/helped`]);
assert.equal((await client.getWorkflow(id)).etag, got.etag);

const agents = [];
for await (const agent of client.agents.list())
  agents.push([agent.agentId, agent.metadata.team_name, typeof agent.lastSeenAt]);
assert.deepEqual(agents, [["an-agent", "x", "string"]]);

const overview = await client.analytics.overview({ startDate: new Date(), endDate: new Date() });
assert.deepEqual([overview.totalWorkflows, overview.topAgents[0].agentId, overview.daily.length], [2, "an-agent", 1]);
const report = await client.analytics.workflow(id);
assert.deepEqual([report.totalSteps, report.agentsInvolved, report.errorCount], [2, ["an-agent"], 1]);
const failures = await client.analytics.failures({ days: 1, agentId: "an-agent" });
assert.deepEqual([failures.totalFailures, failures.recentFailures[0].errorType], [1, "Lost"]);
assert.equal((await client.analytics.agents()).agents[0].name, "An agent");

const usage = await client.usage();
assert.ok(usage.usage.checkpointWrites.count >= 8 && usage.usage.resumeCalls.count >= 1, JSON.stringify(usage));
assert.equal(usage.estimatedCharge, "$0.00");
