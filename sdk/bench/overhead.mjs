/**
 * What the SDK adds to a save: the same saves by bare fetch and by the SDK, in turns, so that both meet the same
 * machine; medians of each, and the median of the ratios.
 *
 *   SNAPSTATE_API_URL=… SNAPSTATE_API_KEY=… node overhead.mjs [pairs [messages]]
 */

import { SnapStateClient } from "@snapstate/sdk";

const PAIRS = Number(process.argv[2] ?? 40);
const SLICE = 10;
const { SNAPSTATE_API_URL: url, SNAPSTATE_API_KEY: key } = process.env;
const client = new SnapStateClient();
const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
const messages = Array.from({ length: Number(process.argv[3] ?? 20) }, (_, at) => ({
  role: at % 2 ? "assistant" : "user",
  content: `Message ${at}: ${"words ".repeat(60)}`,
}));
const name = `bench-${Date.now()}`;
const steps = { bare: 0, sdk: 0 };

async function bare(step) {
  const body = JSON.stringify({ workflow_id: `${name}-bare`, step, state: { step, messages } });
  const response = await fetch(`${url}/checkpoints`, { method: "POST", headers, body });
  if (response.status !== 201) throw new Error(`HTTP ${response.status}`);
  return response.json();
}

function sdk(step) {
  return client.save({ workflowId: `${name}-sdk`, step, state: { step, messages } });
}

async function slice(kind, save) {
  const began = performance.now();
  for (let count = 0; count < SLICE; count += 1) await save((steps[kind] += 1));
  return (performance.now() - began) / SLICE;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

const times = { bare: [], sdk: [] };
for (let pair = -3; pair < PAIRS; pair += 1) {
  const order =
    pair % 2
      ? [
          ["bare", bare],
          ["sdk", sdk],
        ]
      : [
          ["sdk", sdk],
          ["bare", bare],
        ];
  for (const [kind, save] of order) {
    const took = await slice(kind, save);
    if (pair >= 0) times[kind].push(took); // the first three warm up
  }
}
const ratio = median(times.sdk.map((took, at) => took / times.bare[at]));
const round = (number) => Math.round(number * 1_000) / 1_000;
console.log(
  JSON.stringify({
    pairs: PAIRS,
    bare_ms: round(median(times.bare)),
    sdk_ms: round(median(times.sdk)),
    ratio: round(ratio),
  }),
);
