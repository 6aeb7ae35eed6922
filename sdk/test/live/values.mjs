/** As raw.mjs, but by way of JavaScript's own values: prints the states as JSON.stringify tells them. */

import { readFileSync } from "node:fs";
import { SnapStateClient } from "@snapstate/sdk";

const [id] = process.argv.slice(2);
const client = new SnapStateClient();
const out = [];
for (const [index, text] of JSON.parse(readFileSync(0, "utf8")).entries()) {
  const workflowId = `${id}-${index}`;
  const state = JSON.parse(text);
  await client.save({ workflowId, step: 1, state, metadata: state });
  const { latestCheckpoint } = await client.resume(workflowId);
  const [replayed] = (await client.replay(workflowId)).checkpoints;
  const got = await client.get(latestCheckpoint.checkpointId);
  const shown = [latestCheckpoint, replayed, got].flatMap((each) => [each.state, each.metadata]);
  out.push([...new Set(shown.map((value) => JSON.stringify(value)))]);
}
process.stdout.write(JSON.stringify(out));
