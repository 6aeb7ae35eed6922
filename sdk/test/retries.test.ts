/** A call is tried again while that is safe and there is time, and no longer. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  ConnectionError,
  NotFoundError,
  RateLimitError,
  type Retry,
  ServiceUnavailableError,
  SnapStateClient,
  SnapStateError,
  TimeoutError,
} from "../src/index.js";
import { pause, retryAfterOf } from "../src/retries.js";
import { answer, half, hangUp, refusal, SAVED, scripted, silence, thrown } from "./server.js";

const SAVE = { workflowId: "wf", step: 1, state: { a: 1 } };
const saved = answer(201, SAVED);
const unavailable = refusal(503, "SERVICE_UNAVAILABLE", { "Retry-After": "0" });

describe("a save is repeated", () => {
  test.each([
    ["a lost connection", hangUp],
    ["half an answer", half],
    ["an answer that is not ours", answer(201, "<html>")],
    ["an answer that is empty", answer(201, "")],
    ["503", unavailable],
    ["502 of a gateway", answer(502, "bad gateway")],
    ["504 of a gateway", answer(504, "")],
    ["429", refusal(429, "RATE_LIMITED", { "Retry-After": "0" })],
  ])("after %s", async (_, act) => {
    const { client, asked } = await scripted(act, act, answer(200, SAVED));
    expect((await client().save(SAVE)).replayed).toBe(true);
    expect(asked.map((each) => each.body)).toEqual(Array(3).fill('{"workflow_id":"wf","step":1,"state":{"a":1}}'));
  });

  test("after a try that took too long", async () => {
    const { client, asked } = await scripted(silence, saved);
    expect((await client({ timeoutMs: 100 }).save(SAVE)).etag).toBe(SAVED.etag);
    expect(asked).toHaveLength(2);
  });

  test("but not after what would fail again", async () => {
    for (const [status, code] of [
      [400, "VALIDATION_ERROR"],
      [401, "UNAUTHORIZED"],
      [409, "CONFLICT"],
      [500, "INTERNAL_ERROR"],
    ] as const) {
      const { client, asked } = await scripted(refusal(status, code));
      expect(((await thrown(client().save(SAVE))) as SnapStateError).status).toBe(status);
      expect(asked).toHaveLength(1);
    }
  });
});

test("it gives up after maxRetries, with what the last try said", async () => {
  const { client, asked } = await scripted(unavailable);
  const error = (await thrown(client({ maxRetries: 2 }).resume("wf"))) as ServiceUnavailableError;
  expect(error).toBeInstanceOf(ServiceUnavailableError);
  expect([error.status, error.code, error.requestId, error.retryAfter]).toEqual([503, "SERVICE_UNAVAILABLE", "r-1", 0]);
  expect(asked).toHaveLength(3);
});

test("it does not wait for what comes after the deadline", async () => {
  const { client, asked } = await scripted(refusal(429, "RATE_LIMITED", { "Retry-After": "60" }));
  const began = Date.now();
  const error = (await thrown(client({ deadlineMs: 5_000 }).resume("wf"))) as RateLimitError;
  expect([error.name, error.retryAfter]).toEqual(["RateLimitError", 60]);
  expect([asked.length, Date.now() - began < 4_000]).toEqual([1, true]);
});

test("the deadline also ends a try", async () => {
  const { client } = await scripted(silence);
  const error = await thrown(client({ deadlineMs: 200 }).resume("wf"));
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toBeInstanceOf(ConnectionError);
});

test("a whole window of the rate limit is waited for, unless told otherwise", async () => {
  const { client } = await scripted(refusal(429, "RATE_LIMITED", { "Retry-After": "60" }), saved);
  const stop = new AbortController();
  const waits: number[] = [];
  const onRetry = ({ waitMs }: Retry): void => void (waits.push(waitMs), stop.abort());
  const error = (await thrown(client({ onRetry }).save(SAVE, { signal: stop.signal }))) as Error;
  expect([error.name, waits.length, (waits[0] ?? 0) >= 60_000]).toEqual(["AbortError", 1, true]);
});

test("Retry-After is waited for", async () => {
  const { client } = await scripted(refusal(503, "SERVICE_UNAVAILABLE", { "Retry-After": "1" }), saved);
  const began = Date.now();
  await client().save(SAVE);
  expect(Date.now() - began).toBeGreaterThanOrEqual(990);
});

test("Retry-After is read in both its forms", () => {
  const now = Date.UTC(2026, 10, 29, 12, 0, 0);
  expect(retryAfterOf("120", now)).toBe(120);
  expect(retryAfterOf(" 0 ", now)).toBe(0);
  expect(retryAfterOf("Sun, 29 Nov 2026 12:00:30 GMT", now)).toBe(30);
  expect(retryAfterOf("Sun, 29 Nov 2026 11:00:00 GMT", now)).toBe(0);
  for (const odd of [null, "", "soon", "-1", "1.5", "1e3", "2026-11-29"])
    expect(retryAfterOf(odd, now)).toBeUndefined();
});

test("pauses grow, are jittered, bounded, and never shorter than asked", () => {
  const failed = new ConnectionError("x");
  const at = (number: number, random: number): number => pause(failed, number, () => random);
  expect([at(0, 0), at(0, 1), at(3, 0), at(3, 1), at(30, 1)]).toEqual([100, 200, 800, 1_600, 8_000]);
  const asked = new RateLimitError("x", { status: 429 }, 3);
  expect([pause(asked, 0, () => 0), pause(asked, 0, () => 1)]).toEqual([3_000, 3_200]);
  expect(pause(new RateLimitError("x", { status: 429 }, 0), 2, () => 0)).toBe(400);
});

describe("what is not safe to repeat", () => {
  const hook = { url: "https://example.com", events: ["checkpoint.saved" as const] };
  test.each([
    ["a lost answer", hangUp],
    ["503", unavailable],
    ["half an answer", half],
  ])("registering a webhook, after %s", async (_, act) => {
    const { client, asked } = await scripted(act, answer(201, { webhook_id: "wh_1" }));
    await thrown(client().webhooks.create(hook));
    expect(asked).toHaveLength(1);
  });

  test.each<[string, (of: SnapStateClient["webhooks"]) => Promise<unknown>]>([
    ["rotating a secret", (webhooks) => webhooks.rotateSecret("wh_1")],
    ["sending a test", (webhooks) => webhooks.test("wh_1")],
    ["sending a delivery again", (webhooks) => webhooks.resend("wh_1", "d_1")],
  ])("%s, after a lost answer", async (_, act) => {
    const { client, asked } = await scripted(hangUp, answer(200));
    expect(((await thrown(act(client().webhooks))) as ConnectionError).inDoubt).toBe(true);
    expect(asked).toHaveLength(1);
  });

  test("but a webhook is, after a 429: nothing was done", async () => {
    const { client, asked } = await scripted(
      refusal(429, "RATE_LIMITED", { "Retry-After": "0" }),
      answer(201, { webhook_id: "wh_1" }),
    );
    expect((await client().webhooks.create(hook)).webhookId).toBe("wh_1");
    expect(asked).toHaveLength(2);
  });

  test("or when nobody was there to hear it", async () => {
    const { server, url } = await nobody();
    const client = new SnapStateClient({ apiKey: "snp_test", baseUrl: url, maxRetries: 0 });
    const error = (await thrown(client.webhooks.create(hook))) as ConnectionError;
    expect([error.name, error.inDoubt]).toEqual(["ConnectionError", false]);
    setTimeout(server, 150);
    const later = new SnapStateClient({ apiKey: "snp_test", baseUrl: url, onRetry: () => undefined });
    expect((await later.webhooks.create(hook)).webhookId).toBe("wh_1");
  });
});

test.each(["DEPTH_ZERO_SELF_SIGNED_CERT", "CERT_HAS_EXPIRED", "ERR_TLS_CERT_ALTNAME_INVALID"])(
  "a certificate that is not trusted is said at once: %s",
  async (code) => {
    const cause = Object.assign(new Error(code), { code });
    const fails = vi.fn(() => Promise.reject(new TypeError("fetch failed", { cause })));
    const client = new SnapStateClient({ apiKey: "snp_test", baseUrl: "https://example.com", fetch: fails });
    const error = (await thrown(client.save(SAVE))) as ConnectionError;
    expect([error.name, error.inDoubt, fails.mock.calls.length]).toEqual(["ConnectionError", false, 1]);
  },
);

test("so is that nobody speaks TLS there", async () => {
  const { client, url } = await scripted(saved);
  const retries: Retry[] = [];
  const onRetry = (retry: Retry): void => void retries.push(retry);
  const wrong = client({ baseUrl: url.replace("http:", "https:"), onRetry });
  const error = (await thrown(wrong.save(SAVE))) as ConnectionError;
  expect([error.name, error.inDoubt, retries]).toEqual(["ConnectionError", false, []]);
});

/** An address where nobody listens until `server` is called. */
async function nobody(): Promise<{ url: string; server: () => void }> {
  const later = createServer((_, response) => response.writeHead(201).end('{"webhook_id": "wh_1"}'));
  await new Promise<void>((resolve) => later.listen(0, "127.0.0.1", resolve));
  const { port } = later.address() as AddressInfo;
  await new Promise((resolve) => later.close(resolve));
  onTestFinished(() => {
    later.closeAllConnections();
    later.close();
  });
  return { url: `http://127.0.0.1:${port}`, server: () => later.listen(port, "127.0.0.1") };
}

test("a deletion that had been done when its answer was lost is done", async () => {
  const { client, asked } = await scripted(hangUp, refusal(404, "NOT_FOUND"));
  await client().deleteWorkflow("wf");
  expect(asked.map((each) => each.method)).toEqual(["DELETE", "DELETE"]);
  const first = await scripted(refusal(404, "NOT_FOUND"));
  expect(await thrown(first.client().deleteWorkflow("wf"))).toBeInstanceOf(NotFoundError);
  const limited = await scripted(refusal(429, "RATE_LIMITED", { "Retry-After": "0" }), refusal(404, "NOT_FOUND"));
  expect(await thrown(limited.client().deleteWorkflow("wf"))).toBeInstanceOf(NotFoundError);
});

describe("an AbortSignal", () => {
  test("ends a try", async () => {
    const { client, asked } = await scripted(silence);
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("enough")), 50);
    expect((await thrown(client().resume("wf", { signal: stop.signal }))) as Error).toEqual(new Error("enough"));
    expect(asked).toHaveLength(1);
  });

  test("ends a pause", async () => {
    const { client } = await scripted(refusal(503, "SERVICE_UNAVAILABLE", { "Retry-After": "30" }));
    const began = Date.now();
    const error = (await thrown(client().save(SAVE, { signal: AbortSignal.timeout(100) }))) as Error;
    expect(error.name).toBe("TimeoutError");
    expect(error).not.toBeInstanceOf(SnapStateError);
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  test("that has ended sends nothing", async () => {
    const { client, asked } = await scripted(saved);
    expect(await thrown(client().save(SAVE, { signal: AbortSignal.abort("no") }))).toBe("no");
    expect(asked).toHaveLength(0);
  });

  test("keeps no listener of calls that are over", async () => {
    const { client } = await scripted(unavailable, saved);
    const { signal } = new AbortController();
    let listeners = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => ((listeners += 1), add(...args));
    signal.removeEventListener = (...args: Parameters<typeof remove>) => ((listeners -= 1), remove(...args));
    const fetch: typeof globalThis.fetch = (input, init) => globalThis.fetch(input, init);
    await client({ fetch }).save(SAVE, { signal });
    expect(listeners).toBe(0);
  });
});

describe("a repetition", () => {
  test("is told to who asked for it, each time", async () => {
    const { client, url } = await scripted(hangUp, unavailable, saved);
    const told: Retry[] = [];
    await client({ deadlineMs: 9_000, onRetry: (retry) => told.push(retry) }).save(SAVE);
    expect(told.map(({ call, retry, maxRetries, error }) => [call, retry, maxRetries, error.name])).toEqual([
      ["POST /checkpoints", 1, 8, "ConnectionError"],
      ["POST /checkpoints", 2, 8, "ServiceUnavailableError"],
    ]);
    expect(told[0]?.error.message).toContain(`POST ${url}/checkpoints: `);
    expect(told.every(({ waitMs, leftMs }) => waitMs > 50 && leftMs > 5_000 && leftMs < 9_000)).toBe(true);
  });

  test("is a warning otherwise, the first of each call", async () => {
    const warned = vi.spyOn(console, "warn").mockImplementation(() => undefined);
    onTestFinished(() => warned.mockRestore());
    const { client, url } = await scripted(hangUp, unavailable, saved, unavailable, answer(200, {}));
    const one = client({ onRetry: undefined, deadlineMs: 9_000 });
    await one.save(SAVE);
    await one.getWorkflow("wf");
    expect(warned.mock.calls).toEqual([
      [expect.stringMatching(`^SnapState: POST ${url}/checkpoints: .*; trying again, at most 8 times in 9 seconds$`)],
      ["SnapState: GET /workflows/wf: no: SERVICE_UNAVAILABLE; trying again, at most 8 times in 9 seconds"],
    ]);
  });

  test("that is not made is not told", async () => {
    const { client } = await scripted(refusal(404, "NOT_FOUND"), unavailable);
    const onRetry = vi.fn();
    await thrown(client({ onRetry }).resume("wf"));
    await thrown(client({ onRetry, maxRetries: 0 }).resume("wf"));
    expect(onRetry).not.toHaveBeenCalled();
  });
});

test("a redirect is not followed, and said", async () => {
  const { client, asked } = await scripted(answer(308, "", { Location: "https://elsewhere.example" }));
  const error = (await thrown(client().save(SAVE))) as SnapStateError;
  expect([error.status, asked.length]).toEqual([308, 1]);
  expect(error.message).toContain("set baseUrl");
});
