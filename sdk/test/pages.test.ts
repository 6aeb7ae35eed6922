/** Lists: awaited they are a page, iterated over they are everything, fetched as it is needed. */

import { expect, test } from "vitest";
import { type Act, answer, refusal, scripted, thrown } from "./server.js";

const page = (names: string[], next: string | null): Act =>
  answer(200, { agents: names.map((agent_id) => ({ agent_id })), has_more: next !== null, next_cursor: next });

test("awaited it is its first page", async () => {
  const { client, asked } = await scripted(page(["a", "b"], "c 1/+"));
  const first = await client().agents.list({ limit: 2 });
  expect(first).toEqual({ agents: [{ agentId: "a" }, { agentId: "b" }], hasMore: true, nextCursor: "c 1/+" });
  expect(asked.map((each) => each.path)).toEqual(["/agents?limit=2"]);
});

test("iterated over it is all of them, page after page", async () => {
  const { client, asked } = await scripted(page(["a", "b"], "c 1/+"), page([], "c2"), page(["c"], null));
  const names: string[] = [];
  for await (const agent of client().agents.list({ limit: 2 })) names.push(agent.agentId);
  expect(names).toEqual(["a", "b", "c"]);
  expect(asked.map((each) => each.path)).toEqual([
    "/agents?limit=2",
    "/agents?limit=2&cursor=c%201%2F%2B",
    "/agents?limit=2&cursor=c2",
  ]);
});

test("who stops early fetches no more", async () => {
  const { client, asked } = await scripted(page(["a", "b"], "c1"));
  for await (const agent of client().agents.list()) if (agent.agentId === "b") break;
  expect(asked).toHaveLength(1);
});

test("nothing is sent before somebody asks, and the first page once", async () => {
  const { client, asked } = await scripted(page(["a"], null));
  const list = client().agents.list();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(asked).toHaveLength(0);
  const pages = [await list, await list];
  for await (const each of list.pages()) pages.push(each);
  expect([pages.length, asked.length]).toEqual([3, 1]);
});

test("it begins at a cursor, and can be ended from outside", async () => {
  const stop = new AbortController();
  const { client, asked } = await scripted(page(["a"], "c2"), (_response, _asked) => stop.abort(new Error("enough")));
  const names: string[] = [];
  const error = await thrown(async () => {
    for await (const agent of client().agents.list({ cursor: "c1", signal: stop.signal })) names.push(agent.agentId);
  });
  expect([names, error, asked[0]?.path]).toEqual([["a"], new Error("enough"), "/agents?cursor=c1"]);
});

test("a failure is the one of the call, and can be caught as of a promise", async () => {
  const { client } = await scripted(refusal(403, "FORBIDDEN"));
  let settled = false;
  const told = await client()
    .agents.list()
    .catch((error: Error) => error.name);
  await thrown(
    client()
      .agents.list()
      .finally(() => (settled = true)),
  );
  expect([told, settled]).toEqual(["ForbiddenError", true]);
});

test("every list does so: workflows, checkpoints, webhooks, deliveries", async () => {
  const body = (name: string, next: string | null): Act =>
    answer(200, { [name]: [{ a_b: 1 }], has_more: next !== null, next_cursor: next });
  const names = ["workflows", "checkpoints", "webhooks", "deliveries"];
  const { client, asked } = await scripted(...names.flatMap((name) => [body(name, "n"), body(name, null)]));
  const sdk = client();
  const all: unknown[] = [];
  for (const list of [sdk.listWorkflows(), sdk.replay("w"), sdk.webhooks.list(), sdk.webhooks.deliveries("wh_1")]) {
    for await (const item of list as AsyncIterable<unknown>) all.push(item);
  }
  expect(all).toEqual(Array(8).fill({ aB: 1 }));
  expect(asked.map((each) => each.path)).toEqual([
    "/workflows",
    "/workflows?cursor=n",
    "/workflows/w/replay",
    "/workflows/w/replay?cursor=n",
    "/webhooks",
    "/webhooks?cursor=n",
    "/webhooks/wh_1/deliveries",
    "/webhooks/wh_1/deliveries?cursor=n",
  ]);
});

test("the cursor of a last page, null, begins at the first page again", async () => {
  const { client, asked } = await scripted(answer(200, { workflows: [], has_more: false, next_cursor: null }));
  await client().listWorkflows({ cursor: null as never, metadata: { gone: null } });
  expect(asked[0]?.path).toBe("/workflows?metadata.gone=null");
});
