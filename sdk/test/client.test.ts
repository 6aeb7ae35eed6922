/** What goes over the wire, and what comes back from it. */

import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import * as sdk from "../src/index.js";
import { answer, refusal, SAVED, scripted, thrown } from "./server.js";

const { SnapStateClient, ValidationError } = sdk;

test("a save: envelope in snake_case, the user's own as it is, the rest in headers", async () => {
  const { client, asked } = await scripted(answer(201, SAVED));
  const saved = await client().save({
    workflowId: "wf",
    step: 1,
    state: { user_id: 1, userId: 2, nested: { agentId: 3 } },
    label: "read",
    agentId: "a",
    metadata: { runId: 1 },
    status: "failed",
    error: { type: "T", message: "m" },
    ttlSeconds: 60,
    ifMatch: '"1-2-3"',
    diff: false,
  });
  const { method, path, headers, body } = asked[0] as (typeof asked)[0];
  expect([method, path, headers.authorization, headers["content-type"]]).toEqual([
    "POST",
    "/checkpoints",
    "Bearer snp_test",
    "application/json",
  ]);
  expect([headers["x-checkpoint-ttl"], headers["if-match"], headers.prefer]).toEqual([
    "60",
    '"1-2-3"',
    "return=minimal",
  ]);
  expect(body).toBe(
    '{"workflow_id":"wf","step":1,"label":"read","agent_id":"a","status":"failed","error":{"type":"T","message":"m"},' +
      '"state":{"user_id":1,"userId":2,"nested":{"agentId":3}},"metadata":{"runId":1}}',
  );
  expect(saved).toEqual({
    checkpointId: "cp_wf_001",
    workflowId: "wf",
    step: 1,
    etag: '"1-2-3"',
    createdAt: SAVED.created_at,
    sizeBytes: 2,
    diffFromPrevious: SAVED.diff_from_previous,
    replayed: false,
  });
});

test("servers see which release asks", async () => {
  const { client, asked } = await scripted(answer(200));
  await client().usage();
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  expect(asked[0]?.headers["user-agent"]).toBe(`snapstate-js/${version}`);
});

test("nothing that shows a client, or what belongs to it, shows the key", async () => {
  const { client } = await scripted(answer(200, { latest_checkpoint: { state: {}, step: 1, etag: '"1"' } }));
  const one = client({ apiKey: "snp_secret" });
  const wf = await one.workflow("wf");
  for (const each of [one, wf, one.agents, one.analytics, one.webhooks, one.listWorkflows()]) {
    const shown = inspect(each, { depth: null, showHidden: true }) + JSON.stringify(each);
    expect(shown).not.toContain("secret");
  }
});

test("stateJson and metadataJson are spliced in as they are", async () => {
  const { client, asked } = await scripted(answer(201, SAVED));
  const text = '{ "id": 9007199254740993, "o": 1.0, "e": 1E2, "n": "\\u0000", "a": 1, "a": 2 }';
  await client().save({ workflowId: "wf", step: 1, stateJson: text, metadataJson: text });
  expect(asked[0]?.body).toBe(`{"workflow_id":"wf","step":1,"state":${text},"metadata":${text}}`);
});

test.each([
  ["state", { state: { n: 2 }, stateJson: '{"n": 1}' }],
  ["metadata", { state: {}, metadata: { n: 2 }, metadataJson: '{"n": 1}' }],
])("%s given as a value and as a text is refused: one of them would not be saved", async (name, given) => {
  const { client, asked } = await scripted(answer(201, SAVED));
  const error = (await thrown(client().save({ workflowId: "wf", step: 1, ...given } as never))) as Error;
  expect(error.message).toBe(`${name}: give either ${name} or ${name}Json`);
  expect(asked).toHaveLength(0);
});

test("what is not known goes to the server, which refuses it, and is not lost in silence", async () => {
  const { client, asked } = await scripted(answer(201, SAVED));
  await client().save({ workflowId: "wf", step: 1, state: {}, lable: "typo" } as never);
  await client()
    .replay("wf", { fromStpe: 1 } as never)
    .then(
      () => undefined,
      () => undefined,
    );
  expect(asked[0]?.body).toContain('"lable":"typo"');
  expect(asked[1]?.path).toBe("/workflows/wf/replay?from_stpe=1");
});

test.each([
  ["a/b", "a%2Fb"],
  ["a%2Fb", "a%252Fb"],
  ["...", "..."],
  ["a b?c#d", "a%20b%3Fc%23d"],
  ["研究-🤖", encodeURIComponent("研究-🤖")],
  ["resume", "resume"],
  ["%2e%2e", "%252e%252e"],
  ["a\\b", "a%5Cb"],
])("an id is one segment of the path: %s", async (id, segment) => {
  const { client, asked } = await scripted(refusal(404, "NOT_FOUND"));
  const [one, two] = [client(), client()];
  for (const call of [
    one.resume(id),
    one.getWorkflow(id),
    one.diff(id),
    one.analytics.workflow(id),
    two.get(id),
    one.agents.get(id),
  ])
    await thrown(call);
  await thrown(two.replay(id));
  expect(asked.map((each) => each.path).sort()).toEqual(
    [
      `/agents/${segment}`,
      `/analytics/workflows/${segment}`,
      `/checkpoints/${segment}`,
      `/workflows/${segment}`,
      `/workflows/${segment}/diff`,
      `/workflows/${segment}/replay`,
      `/workflows/${segment}/resume`,
    ].sort(),
  );
});

test.each([".", "..", "", "a\ud83d", undefined, 7])("what is no id is refused before it is sent: %s", async (id) => {
  const { client, asked } = await scripted(answer(200));
  const [sdk, no] = [client(), id as string];
  const calls = [
    () => sdk.resume(no),
    () => sdk.deleteWorkflow(no),
    () => sdk.get(no),
    () => sdk.replay(no),
    () => sdk.agents.get(no),
  ];
  for (const call of calls) expect(await thrown(call)).toBeInstanceOf(ValidationError);
  expect(asked).toHaveLength(0);
});

test("filters: names change, names of metadata do not, dates are told in full or by their day", async () => {
  const { client, asked } = await scripted(answer(200, { workflows: [], has_more: false, next_cursor: null }));
  const at = new Date("2026-11-29T01:02:03.004Z");
  await client().listWorkflows({
    metadata: { runId: "a b", n: 1, "a&b": null, on: true },
    updatedAfter: at,
    agentId: "x",
    q: "",
  });
  await client().analytics.overview({ startDate: at, endDate: "2026-11-30" });
  await client().replay("wf", { fromStep: 0, includeState: false });
  expect(asked.map((each) => each.path)).toEqual([
    "/workflows?metadata.runId=a%20b&metadata.n=1&metadata.a%26b=null&metadata.on=true" +
      "&updated_after=2026-11-29T01%3A02%3A03.004Z&agent_id=x&q=",
    "/analytics/overview?start_date=2026-11-29&end_date=2026-11-30",
    "/workflows/wf/replay?from_step=0&include_state=false",
  ]);
});

test("a filter of metadata that is undefined is refused: as a text it would fit nothing", async () => {
  const { client, asked } = await scripted(answer(200, {}));
  const error = (await thrown(client().listWorkflows({ metadata: { run_id: undefined as never } }))) as Error;
  expect(error.message).toBe("metadata.run_id: must be one value");
  expect(asked).toHaveLength(0);
});

test("raw: for one call, or for all of a client", async () => {
  const { client } = await scripted(answer(200, '{"checkpoint_id":"cp_w_001","state":{"a": 1.0},"metadata":null}'));
  const raw = await client().get("cp_w_001", { raw: true });
  expect([raw.stateJson, raw.metadataJson, raw.state]).toEqual(['{"a": 1.0}', null, { a: 1 }]);
  expect((await client({ raw: true }).get("cp_w_001")).stateJson).toBe('{"a": 1.0}');
  expect("stateJson" in (await client({ raw: true }).get("cp_w_001", { raw: false }))).toBe(false);
});

test("a checkpoint that has not changed is null", async () => {
  const { client, asked } = await scripted(answer(304));
  expect(await client().get("cp_w_001", { ifNoneMatch: '"1"' })).toBeNull();
  expect(asked[0]?.headers["if-none-match"]).toBe('"1"');
});

test("health is told also while the service is not well", async () => {
  const { client } = await scripted(
    answer(503, { status: "degraded", r2: "connected", intake_lag_seconds: null }),
    answer(503, { error: {} }),
  );
  expect(await client().health()).toEqual({ status: "degraded", r2: "connected", intakeLagSeconds: null });
  expect(await thrown(client().health())).toBeInstanceOf(sdk.ServiceUnavailableError);
});

test("the rate limit of the last answer", async () => {
  const limits = { "RateLimit-Limit": "100", "RateLimit-Remaining": "7", "RateLimit-Reset": "30" };
  const { client } = await scripted(answer(200, {}, limits), answer(200));
  const one = client();
  expect(one.rateLimit).toBeUndefined();
  await one.usage();
  expect(one.rateLimit).toEqual({ limit: 100, remaining: 7, reset: 30 });
});

describe("settings", () => {
  afterEach(() => {
    delete process.env.SNAPSTATE_API_KEY;
    delete process.env.SNAPSTATE_API_URL;
  });

  test("come from the environment when they are not given", async () => {
    const { url, asked } = await scripted(answer(200));
    Object.assign(process.env, { SNAPSTATE_API_KEY: "snp_env", SNAPSTATE_API_URL: `${url}//` });
    await new SnapStateClient().usage();
    expect([asked[0]?.path, asked[0]?.headers.authorization]).toEqual(["/usage", "Bearer snp_env"]);
  });

  test.each([
    [{}],
    [{ apiKey: "k" }],
    [{ baseUrl: "http://a" }],
    [{ apiKey: "k\n", baseUrl: "http://a" }],
    [{ apiKey: "k", baseUrl: "a" }],
    [{ apiKey: "k", baseUrl: "ftp://a" }],
    [{ apiKey: "k", baseUrl: "http://u:p@a" }],
    [{ apiKey: "k", baseUrl: "http://a?b" }],
  ])("are refused when they cannot work: %j", (options) => {
    expect(() => new SnapStateClient(options)).toThrow(ValidationError);
  });

  test("an address may have a path", async () => {
    const { url, asked } = await scripted(answer(200));
    await new SnapStateClient({ apiKey: "k", baseUrl: `${url}/api/` }).usage();
    expect(asked[0]?.path).toBe("/api/usage");
  });
});
