/** Texts from stdin go in as they are; prints what comes out by every read: `node raw.mjs WORKFLOW [read]`. */

import { readFileSync } from "node:fs";
import { SnapStateClient } from "@snapstate/sdk";

const [id, mode] = process.argv.slice(2);
const client = new SnapStateClient({ raw: true });
const texts = JSON.parse(readFileSync(0, "utf8"));
const out = [];
for (const [index, text] of texts.entries()) {
  const [workflowId, step] = [`${id}-${index}`, 1];
  if (mode !== "read") await client.save({ workflowId, step, stateJson: text, metadataJson: text, ttlSeconds: 60 });
  const { latestCheckpoint } = await client.resume(workflowId);
  const [replayed] = (await client.replay(workflowId)).checkpoints;
  const got = await client.get(latestCheckpoint.checkpointId, { raw: true });
  const summary = await client.getWorkflow(workflowId);
  const read = [latestCheckpoint, replayed, got].flatMap((each) => [each.stateJson, each.metadataJson]);
  out.push([...new Set([...read, summary.metadataJson])]);
}
process.stdout.write(JSON.stringify(out));
