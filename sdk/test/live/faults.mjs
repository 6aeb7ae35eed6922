/** Saves by several agents at once; prints the errors they met: `node faults.mjs PREFIX SAVES AGENTS`. */

import { SnapStateClient } from "@snapstate/sdk";

const [prefix, saves, agents] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const client = new SnapStateClient();

/** Half of them number their steps themselves, half are led by the guarded hold on a workflow. */
async function agent(number) {
  const id = `${prefix}-${number}`;
  const wf = number % 2 ? await client.workflow(id, { agentId: `agent-${number}` }) : undefined;
  for (let step = 1; step <= saves / agents; step += 1) {
    const state = { agent: number, step, text: "é".repeat(step) };
    const saved = wf
      ? await wf.checkpoint(`at ${step}`, state)
      : await client.save({ workflowId: id, step, label: `at ${step}`, state });
    if (saved.step !== step) throw new Error(`${id}: asked for ${step}, saved as ${saved.step}`);
  }
  const last = (await client.resume(id)).latestCheckpoint;
  if (last.step !== saves / agents) throw new Error(`${id}: resumed at ${last.step}`);
}

const done = await Promise.allSettled(Array.from({ length: agents }, (_, number) => agent(number)));
const errors = done
  .filter(({ status }) => status === "rejected")
  .map(({ reason }) => `${reason.name}: ${reason.message}`);
process.stdout.write(JSON.stringify(errors));
