/** Each id through every call that takes one: `node ids.mjs ID…`; prints those that came back as they went. */

import assert from "node:assert/strict";
import { SnapStateClient } from "@snapstate/sdk";

const client = new SnapStateClient();
const works = [];
for (const id of process.argv.slice(2)) {
  const { step } = await client.resume(id).then(
    (resumed) => resumed.latestCheckpoint,
    () => ({ step: 0 }),
  );
  const saved = await client.save({ workflowId: id, step: step + 1, state: { mine: id } });
  assert.deepEqual([saved.workflowId, saved.checkpointId], [id, `cp_${id}_${String(step + 1).padStart(3, "0")}`]);
  assert.deepEqual((await client.get(saved.checkpointId)).state, { mine: id });
  assert.deepEqual((await client.resume(id)).latestCheckpoint.state, { mine: id });
  const states = [];
  for await (const { state } of client.replay(id, { fromStep: step + 1 })) states.push(state);
  assert.deepEqual(states, [{ mine: id }]);
  assert.equal((await client.diff(id)).workflowId, id);
  assert.equal((await client.getWorkflow(id)).workflowId, id);
  assert.equal((await client.updateWorkflow(id, { ttlSeconds: 60 })).ttlSeconds, 60);
  const wf = await client.workflow(id);
  assert.equal((await wf.checkpoint("next", { mine: id, n: 2 })).step, step + 2);
  works.push(id);
}
for (const id of [".", ".."]) await assert.rejects(client.resume(id), { name: "ValidationError" });
process.stdout.write(JSON.stringify(works));
