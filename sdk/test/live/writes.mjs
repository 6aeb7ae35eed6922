/** Every method that writes, once, against the server of SNAPSTATE_API_URL: `node writes.mjs WORKFLOW`. */

import assert from "node:assert/strict";
import { NotFoundError, SnapStateClient } from "@snapstate/sdk";

const id = process.argv[2];
const client = new SnapStateClient();

assert.equal((await client.health()).redis, "connected");
await assert.rejects(client.resume(id), NotFoundError);
await assert.rejects(client.diff(id), NotFoundError);
assert.deepEqual((await client.replay(id)).checkpoints, []);

const first = await client.save({
  workflowId: id,
  step: 1,
  label: "one",
  state: { a_b: 1, list: [] },
  agentId: "an-agent",
});
assert.deepEqual([first.checkpointId, first.step, first.replayed, first.workflowId], [`cp_${id}_001`, 1, false, id]);
assert.deepEqual(first.diffFromPrevious, { added: ["a_b", "list"], removed: [], changed: [] });
assert.equal(
  (await client.save({ workflowId: id, step: 1, label: "one", state: { a_b: 1, list: [] }, agentId: "an-agent" }))
    .replayed,
  true,
);
await assert.rejects(client.save({ workflowId: id, step: 1, state: { other: 1 } }), (error) => {
  assert.deepEqual(
    [error.name, error.status, error.existing],
    ["ConflictError", 409, { checkpointId: `cp_${id}_001`, etag: first.etag }],
  );
  return true;
});
await assert.rejects(client.save({ workflowId: id, step: 2, state: {}, ifNoneMatch: "*" }), { name: "ConflictError" });
const second = await client.save({
  workflowId: id,
  step: 2,
  label: "two",
  state: { a_b: 2, list: [] },
  metadata: { run_id: "r", runId: 7 },
  status: "failed",
  error: { type: "Lost", message: "m" },
  ttlSeconds: 60,
  ifMatch: first.etag,
  diff: false,
  agentId: "an-agent",
});
assert.equal("diffFromPrevious" in second, false);
await assert.rejects(client.save({ workflowId: id, step: 1.5, state: {} }), (error) => {
  assert.deepEqual([error.name, error.code, error.details[0].path], ["ValidationError", "VALIDATION_ERROR", "step"]);
  return true;
});
await assert.rejects(client.save({ workflowId: id, step: 9, state: { a: "x".repeat(1_100_000) } }), {
  name: "PayloadTooLargeError",
  status: 413,
});

const changed = await client.updateWorkflow(id, { ttlSeconds: 3_600, pinned: true, keepLast: 10 });
assert.deepEqual([changed.ttlSeconds, changed.pinned, changed.keepLast, changed.expiresAt], [3_600, true, 10, null]);
assert.equal((await client.updateWorkflow(id, { pinned: false, keepLast: null })).keepLast, null);

const agent = await client.agents.register({
  agentId: "an-agent",
  name: "An agent",
  capabilities: ["read_files"],
  metadata: { team_name: "x" },
});
assert.deepEqual([agent.agentId, agent.capabilities, agent.metadata], ["an-agent", ["read_files"], { team_name: "x" }]);
assert.deepEqual((await client.agents.update("an-agent", { description: "reads" })).metadata, { team_name: "x" });
assert.equal((await client.agents.get("an-agent")).description, "reads");
await client.agents.register({ agentId: "gone", metadataJson: '{"n": 1.0}' });
assert.equal((await client.agents.get("gone", { raw: true })).metadataJson, '{"n": 1.0}');
await client.agents.delete("gone");
await assert.rejects(client.agents.get("gone"), { name: "NotFoundError", code: "AGENT_NOT_FOUND" });

const hook = await client.webhooks.create({
  url: "https://hooks.example.com/",
  events: ["checkpoint.saved"],
  description: "d",
});
assert.match(hook.secret, /^whsec_/);
assert.deepEqual((await client.webhooks.update(hook.webhookId, { events: ["workflow.failed"] })).events, [
  "workflow.failed",
]);
assert.equal("secret" in (await client.webhooks.get(hook.webhookId)), false);
assert.notEqual((await client.webhooks.rotateSecret(hook.webhookId)).secret, hook.secret);
assert.equal((await client.webhooks.rotateSecret(hook.webhookId, "mine")).secret, "mine");
const tested = await client.webhooks.test(hook.webhookId);
assert.deepEqual([tested.event, tested.status], ["webhook.test", "pending"]);
assert.equal((await client.webhooks.deliveries(hook.webhookId)).deliveries[0].deliveryId, tested.deliveryId);
assert.equal((await client.webhooks.resend(hook.webhookId, tested.deliveryId)).deliveryId, tested.deliveryId);
const other = await client.webhooks.create({ url: "https://hooks.example.com/2", events: ["quota.exceeded"] });
const hooks = [];
for await (const each of client.webhooks.list({ limit: 1 })) hooks.push(each.webhookId);
assert.deepEqual(hooks.sort(), [hook.webhookId, other.webhookId].sort());
await client.webhooks.delete(other.webhookId);
await assert.rejects(client.webhooks.get(other.webhookId), { name: "NotFoundError" });

const wf = await client.workflow(`${id}/helped`, { agentId: "an-agent" });
for (const n of [1, 2, 3]) await wf.checkpoint(`at ${n}`, { n });
await client.save({ workflowId: `${id}/helped`, step: 4, state: { stranger: true } });
await assert.rejects(wf.checkpoint("late", { n: 4 }), { name: "ConflictError" });
await wf.refresh();
assert.deepEqual([wf.state, wf.step], [{ stranger: true }, 4]);
await wf.complete("done", { n: 5 });

await client.save({ workflowId: `${id}/gone`, step: 0, state: {} });
await client.deleteWorkflow(`${id}/gone`);
await assert.rejects(client.getWorkflow(`${id}/gone`), NotFoundError);
await assert.rejects(client.deleteWorkflow(`${id}/gone`), NotFoundError);
assert.ok(client.rateLimit.limit > client.rateLimit.remaining);
await assert.rejects(new SnapStateClient({ apiKey: `snp_${"0".repeat(32)}` }).usage(), {
  name: "AuthError",
  code: "UNAUTHORIZED",
});
