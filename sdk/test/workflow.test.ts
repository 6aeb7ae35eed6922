/** A workflow is resumed, its steps are numbered, and each save is guarded by the etag of the one before. */

import { expect, test } from "vitest";
import { ConflictError, ServiceUnavailableError } from "../src/index.js";
import { type Act, type Asked, answer, refusal, SAVED, scripted, thrown } from "./server.js";

const NOTHING = refusal(404, "NOT_FOUND");
const RESUMED = answer(200, {
  workflow_id: "wf",
  status: "active",
  latest_checkpoint: {
    checkpoint_id: "cp_wf_007",
    step: 7,
    label: "read",
    state: { a_b: 1 },
    metadata: null,
    etag: '"e7"',
  },
});
const HEAD_AT_1 = answer(200, { workflow_id: "wf", status: "active", latest_checkpoint: { step: 1, state: { n: 1 }, etag: '"e1"' } });
const saves: Act = (response, asked) => {
  const { step } = JSON.parse(asked.body) as { step: number };
  answer(201, { ...SAVED, step, etag: `"e${step}"` })(response, asked);
};

function sent(asked: Asked[]): unknown[] {
  return asked.map(({ headers, body }) => [JSON.parse(body), headers["if-match"], headers["if-none-match"]]);
}

test("a new one begins at step 1, and only if nobody else has begun it", async () => {
  const { client, asked } = await scripted(NOTHING, saves);
  const wf = await client().workflow<{ n: number }>("wf", { agentId: "a", ttlSeconds: 60 });
  expect([wf.resumed, wf.state, wf.step, wf.nextStep]).toEqual([false, undefined, undefined, 1]);
  await wf.checkpoint("one", { n: 1 });
  await wf.checkpoint("two", { n: 2 }, { metadata: { m_n: 1 }, ttlSeconds: 5 });
  expect(asked[0]?.path).toBe("/workflows/wf/resume?agent_id=a");
  expect(sent(asked.slice(1))).toEqual([
    [{ workflow_id: "wf", step: 1, label: "one", agent_id: "a", state: { n: 1 } }, undefined, "*"],
    [
      { workflow_id: "wf", step: 2, label: "two", agent_id: "a", state: { n: 2 }, metadata: { m_n: 1 } },
      '"e1"',
      undefined,
    ],
  ]);
  expect(asked.slice(1).map((each) => each.headers["x-checkpoint-ttl"])).toEqual(["60", "5"]);
  expect([wf.state, wf.step, wf.label, wf.etag, wf.nextStep]).toEqual([{ n: 2 }, 2, "two", '"e2"', 3]);
});

test("one that is there is gone on with", async () => {
  const { client, asked } = await scripted(RESUMED, saves);
  const wf = await client().workflow("wf");
  expect([wf.resumed, wf.state, wf.step, wf.label]).toEqual([true, { a_b: 1 }, 7, "read"]);
  await wf.complete("done", { a: 2 });
  expect(sent(asked.slice(1))).toEqual([
    [{ workflow_id: "wf", step: 8, label: "done", status: "completed", state: { a: 2 } }, '"e7"', undefined],
  ]);
  expect(wf.status).toBe("completed");
});

test("a failure is told with its reason, cut to what the API takes", async () => {
  const { client, asked } = await scripted(NOTHING, saves);
  const wf = await client().workflow("wf");
  await wf.fail(new RangeError("🤖".repeat(2_001)), { n: 1 });
  await wf.fail("no error \ud83d");
  const [one, two] = asked
    .slice(1)
    .map((each) => JSON.parse(each.body) as { status: string; error: { type: string; message: string } });
  expect([one?.status, one?.error.type, [...(one?.error.message ?? "")].length]).toEqual([
    "failed",
    "RangeError",
    2_000,
  ]);
  expect([wf.label, wf.state]).toEqual(["failed", { n: 1 }]);
  expect(two?.error).toEqual({ type: "Error", message: "no error \ufffd" });
});

test.each<[string, unknown, { type: string; message: string }]>([
  ["an object without a text", Object.create(null), { type: "Error", message: "[object Object]" }],
  ["a symbol", Symbol("odd"), { type: "Error", message: "Symbol(odd)" }],
  ["an error whose message is none", Object.assign(new Error(), { message: 402 }), { type: "Error", message: "402" }],
  ["an error whose name is none", Object.assign(new Error("lost"), { name: 7 }), { type: "7", message: "lost" }],
])("a failure is told, also of %s", async (_, reason, error) => {
  const { client, asked } = await scripted(NOTHING, saves);
  await (await client().workflow("wf")).fail(reason, {});
  expect(JSON.parse(asked[1]?.body ?? "").error).toEqual(error);
});

test("calls that are not awaited are saved in their order", async () => {
  const { client, asked } = await scripted(NOTHING, saves);
  const wf = await client().workflow("wf");
  const all = [1, 2, 3].map((n) => wf.checkpoint(`at ${n}`, { n }));
  expect((await Promise.all(all)).map((saved) => saved.step)).toEqual([1, 2, 3]);
  expect(asked.slice(1).map((each) => JSON.parse(each.body).label)).toEqual(["at 1", "at 2", "at 3"]);
});

test("the state is as it is now, unless another is given", async () => {
  const { client, asked } = await scripted(RESUMED, saves);
  const wf = await client().workflow<{ a_b: number }>("wf");
  if (wf.state) wf.state.a_b = 2;
  await wf.checkpoint();
  await wf.complete();
  const bodies = asked.slice(1).map((each) => JSON.parse(each.body));
  expect(bodies.map(({ label, state, status }) => [label, state, status])).toEqual([
    [undefined, { a_b: 2 }, undefined],
    ["completed", { a_b: 2 }, "completed"],
  ]);
  const fresh = await (await scripted(NOTHING)).client().workflow("wf");
  expect(((await thrown(fresh.checkpoint("nothing"))) as Error).message).toBe("state: must not be undefined");
});

test("without a state a call means that of the one before it, also while that is being saved", async () => {
  const { client, asked } = await scripted(NOTHING, saves);
  const wf = await client().workflow("wf");
  await Promise.all([wf.checkpoint("one", { n: 1 }), wf.checkpoint("two", { n: 2 }), wf.complete()]);
  const states = asked.slice(1).map((each) => (JSON.parse(each.body) as { state: unknown }).state);
  expect(states).toEqual([{ n: 1 }, { n: 2 }, { n: 2 }]);
  expect(wf.state).toEqual({ n: 2 });
});

test("a state that could not be saved gives way to the one that is kept", async () => {
  const { client } = await scripted(NOTHING, saves, refusal(400, "VALIDATION_ERROR"));
  const wf = await client().workflow("wf");
  await wf.checkpoint("one", { n: 1 });
  await thrown(wf.checkpoint("two", { n: 2 }));
  expect([wf.step, wf.state]).toEqual([1, { n: 1 }]);
});

test("a checkpoint behind a refresh leaves its own state, not the one that was refreshed", async () => {
  const { client } = await scripted(NOTHING, HEAD_AT_1, saves);
  const wf = await client().workflow("wf");
  await Promise.all([wf.refresh(), wf.checkpoint("two", { n: 2 })]);
  expect([wf.step, wf.state]).toEqual([2, { n: 2 }]);
});

test("what is saved is the state as it was at the call", async () => {
  const { client, asked } = await scripted(NOTHING, saves);
  const wf = await client().workflow("wf");
  const [state, metadata] = [{ list: [1] }, { n: 1 }];
  const one = wf.checkpoint("one", state, { metadata });
  state.list.push(2);
  metadata.n = 2;
  await Promise.all([one, wf.checkpoint("two", state, { metadata })]);
  expect(
    asked
      .slice(1)
      .map((each) => JSON.parse(each.body))
      .map((body) => [body.state, body.metadata]),
  ).toEqual([
    [{ list: [1] }, { n: 1 }],
    [{ list: [1, 2] }, { n: 2 }],
  ]);
});

test("who was overtaken hears of it, and can go on from what is there", async () => {
  const conflict = refusal(409, "CONFLICT", {}, { existing: { checkpoint_id: "cp_wf_007", etag: '"e7"' } });
  const { client, asked } = await scripted(NOTHING, conflict, RESUMED, saves);
  const wf = await client().workflow("wf");
  const error = await thrown(wf.checkpoint("mine", {}));
  expect((error as ConflictError).existing).toEqual({ checkpointId: "cp_wf_007", etag: '"e7"' });
  expect([wf.step, wf.state]).toEqual([undefined, undefined]);
  await wf.refresh();
  expect((await wf.checkpoint("mine", {})).step).toBe(8);
  expect(asked.at(-1)?.headers["if-match"]).toBe('"e7"');
});

test("a failed save leaves it as it was, and the next one is tried all the same", async () => {
  const { client } = await scripted(NOTHING, refusal(400, "VALIDATION_ERROR"), saves);
  const wf = await client().workflow("wf");
  const [first, second] = [wf.checkpoint("bad", {}), wf.checkpoint("good", { n: 1 })];
  expect(((await thrown(first)) as Error).name).toBe("ValidationError");
  expect([(await second).step, wf.label]).toEqual([1, "good"]);
});

test("closing waits for what is under way; afterwards nothing is saved", async () => {
  const { client } = await scripted(NOTHING, saves);
  const wf = await client().workflow("wf");
  const one = wf.checkpoint("one", {});
  const closed = wf.close();
  expect(((await thrown(wf.checkpoint("late", {}))) as Error).message).toContain("closed");
  await closed;
  expect([wf.label, (await one).step]).toEqual(["one", 1]);
});

test("await using closes it", async () => {
  const { client } = await scripted(NOTHING, saves);
  let kept: { checkpoint: (label: string, state: Record<string, unknown>) => Promise<unknown> };
  {
    await using wf = await client().workflow("wf");
    await wf.checkpoint("one", {});
    kept = wf;
  }
  expect(((await thrown(kept.checkpoint("late", {}))) as Error).message).toContain("closed");
});

test("what cannot be resumed is not begun anew", async () => {
  const { client } = await scripted(refusal(503, "SERVICE_UNAVAILABLE"));
  expect(await thrown(client({ maxRetries: 0 }).workflow("wf"))).toBeInstanceOf(ServiceUnavailableError);
});

test("what is there is looked up in its turn, after what is being saved", async () => {
  const slowly: Act = (response, asked) => void setTimeout(() => saves(response, asked), 100);
  const { client, asked } = await scripted(NOTHING, slowly, HEAD_AT_1, saves);
  const wf = await client().workflow("wf");
  const saving = wf.checkpoint("one", { n: 1 });
  await wf.refresh();
  await saving;
  await wf.checkpoint("two", { n: 2 });
  expect(asked.map(({ method }) => method)).toEqual(["GET", "POST", "GET", "POST"]);
  expect(asked[3]?.headers["if-match"]).toBe('"e1"');
});
