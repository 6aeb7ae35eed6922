/**
 * An agent that counts the words of some texts, one text a step. Kill it at any moment and start it again: it goes on
 * where it was, and no step is done twice.
 *
 *   SNAPSTATE_API_URL=… SNAPSTATE_API_KEY=… node basic-agent.mjs my-run
 */

import { SnapStateClient } from "@snapstate/sdk";

const TEXTS = ["the moon pulls", "and the sea follows", "twice a day", "in most places", "more or less"];
const [id = "basic-agent", pause = "200"] = process.argv.slice(2);

const client = new SnapStateClient();
const wf = await client.workflow(id, { agentId: "counter" });
console.log(wf.resumed ? `resumed at step ${wf.step}` : "begun");

let state = wf.state ?? { counts: [], total: 0 };
while (state.counts.length < TEXTS.length) {
  const words = TEXTS[state.counts.length].split(" ").length;
  await new Promise((resolve) => setTimeout(resolve, Number(pause))); // what a real agent would think about
  state = { counts: [...state.counts, words], total: state.total + words };
  const last = state.counts.length === TEXTS.length;
  await wf.checkpoint(`counted ${state.counts.length}`, state, { status: last ? "completed" : "active" });
  console.log(`step ${wf.step}: ${state.total} words`);
}
console.log(`done: ${JSON.stringify(state)}`);
