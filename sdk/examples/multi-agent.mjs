/**
 * Two agents at one board of questions. Each takes an open one, answers it, and writes the answer down; the etag makes
 * sure that of two who take the same question one wins, and the other looks again. Kill it and start it again: what
 * was answered stays, and what somebody had taken but not answered is taken up by the same agent.
 *
 *   SNAPSTATE_API_URL=… SNAPSTATE_API_KEY=… node multi-agent.mjs my-board
 */

import { ConflictError, SnapStateClient } from "@snapstate/sdk";

const QUESTIONS = ["7 * 6", "12 * 12", "9 * 9", "20 * 20", "3 * 3", "11 * 5"];
const [id = "multi-agent", pause = "100"] = process.argv.slice(2);
const client = new SnapStateClient();

/** Changes the board as it is now; looks again while others are quicker. Undefined: there was nothing to change. */
async function change(board, label, edit) {
  for (;;) {
    const state = structuredClone(
      board.state ?? { questions: QUESTIONS.map((text) => ({ text, by: null, answer: null })) },
    );
    const result = edit(state.questions);
    if (result === undefined) return undefined;
    const status = state.questions.every(({ answer }) => answer !== null) ? "completed" : "active";
    try {
      await board.checkpoint(label, state, { status });
      return result;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      await board.refresh();
    }
  }
}

async function work(agentId) {
  await client.agents.register({ agentId, name: `Calculator ${agentId}`, capabilities: ["arithmetic"] });
  const board = await client.workflow(id, { agentId });
  for (;;) {
    await board.refresh();
    const taken = await change(board, `${agentId} takes one`, (questions) => {
      const mine = questions.find(({ by, answer }) => by === agentId && answer === null);
      const open = mine ?? questions.find(({ by }) => by === null);
      if (open) open.by = agentId;
      return open?.text;
    });
    if (taken === undefined) return;
    await new Promise((resolve) => setTimeout(resolve, Number(pause)));
    const [left, right] = taken.split(" * ").map(Number);
    await change(board, `${agentId} answers`, (questions) => {
      questions.find(({ text }) => text === taken).answer = left * right;
      return true;
    });
    console.log(`${agentId}: ${taken} = ${left * right}`);
  }
}

await Promise.all([work("ada"), work("blaise")]);
const { latestCheckpoint, status } = await client.resume(id);
const answers = latestCheckpoint.state.questions.map(({ text, answer }) => `${text} = ${answer}`);
console.log(`${status}: ${answers.join(", ")}`);
