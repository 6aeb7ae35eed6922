/** One process for a whole table: a JSON line in tells what to save or read, a JSON line out how it went. */

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { SnapStateClient } = await import(pathToFileURL(process.argv[2]).href);
const client = new SnapStateClient();

async function save({ workflowId, text, how }) {
  const state = how === "raw" ? { stateJson: text, metadataJson: text } : asValue(text);
  await client.save({ workflowId, step: 1, ...state });
  return "saved";
}

function asValue(text) {
  const state = JSON.parse(text);
  return { state, metadata: state };
}

async function read({ workflowId, how }) {
  const { latestCheckpoint: found } = await client.resume(workflowId, { raw: how === "raw" });
  return how === "raw" ? [found.stateJson, found.metadataJson] : [found.state, found.metadata].map((each) => JSON.stringify(each));
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  const answer = await (asked.text === undefined ? read(asked) : save(asked)).catch((error) => ({ error: String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
