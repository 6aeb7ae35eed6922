/** Every way in which a call can fail has a class of its own, and tells what the server told. */

import { describe, expect, test } from "vitest";
import * as sdk from "../src/index.js";
import { answer, refusal, scripted, thrown } from "./server.js";

const { SnapStateError, ValidationError } = sdk;

describe("errors", () => {
  test.each([
    [400, "VALIDATION_ERROR", "ValidationError"],
    [400, "MAX_AGENTS_REACHED", "SnapStateError"],
    [401, "UNAUTHORIZED", "AuthError"],
    [403, "FORBIDDEN", "ForbiddenError"],
    [404, "NOT_FOUND", "NotFoundError"],
    [409, "CONFLICT", "ConflictError"],
    [413, "PAYLOAD_TOO_LARGE", "PayloadTooLargeError"],
    [415, "UNSUPPORTED_MEDIA_TYPE", "SnapStateError"],
    [429, "RATE_LIMITED", "RateLimitError"],
    [500, "INTERNAL_ERROR", "SnapStateError"],
    [503, "SERVICE_UNAVAILABLE", "ServiceUnavailableError"],
  ])("%i %s is a %s", async (status, code, name) => {
    const { client } = await scripted(refusal(status, code));
    const error = (await thrown(client({ maxRetries: 0 }).usage())) as sdk.SnapStateError;
    expect(error).toBeInstanceOf(sdk[name as "SnapStateError"]);
    expect(error).toBeInstanceOf(sdk.SnapStateError);
    expect([error.name, error.status, error.code, error.requestId, error.message]).toEqual([
      name,
      status,
      code,
      "r-1",
      `no: ${code}`,
    ]);
  });

  test.each(["<h1>Not found</h1>", "", '{"detail": "no route"}'])("a proxy's 404 (%s) is not 'nothing saved'", async (body) => {
    const { client } = await scripted(answer(404, body), answer(404, body));
    for (const asking of [client().resume("w"), client().workflow("w")]) {
      const error = await thrown(asking);
      expect(error).not.toBeInstanceOf(sdk.NotFoundError);
      expect((error as sdk.SnapStateError).message).toContain("baseUrl");
    }
  });

  test("a conflict names what is there, or that nothing is", async () => {
    const found = refusal(409, "CONFLICT", {}, { existing: { checkpoint_id: "cp_w_002", etag: '"2"' } });
    const { client } = await scripted(found, refusal(409, "CONFLICT", {}, { existing: null }));
    const calls = [thrown(client().usage()), thrown(client().usage())];
    const told = (await Promise.all(calls)).map((error) => (error as sdk.ConflictError).existing);
    expect(told).toContainEqual({ checkpointId: "cp_w_002", etag: '"2"' });
    expect(told).toContain(null);
  });

  test("what validation says, by place", async () => {
    const details = [{ path: "state.score", message: "is NaN" }];
    const { client } = await scripted(
      answer(400, { error: { code: "VALIDATION_ERROR", message: "m", details, request_id: "r" } }),
    );
    expect(((await thrown(client().usage())) as sdk.ValidationError).details).toEqual(details);
  });

  test("of something in between, which knows nothing of us", async () => {
    const { client } = await scripted(answer(418, "<h1>teapot</h1>"));
    const error = (await thrown(client().usage())) as sdk.SnapStateError;
    expect([error.status, error.code, error.requestId]).toEqual([418, "", "from-the-header"]);
    expect(error.message).toContain("teapot");
  });

  test("a header that cannot be sent", async () => {
    const { client } = await scripted(answer(200));
    expect(await thrown(client().save({ workflowId: "w", step: 1, state: {}, ifMatch: "研究" }))).toBeInstanceOf(
      ValidationError,
    );
  });
});

test.each([
  ["a page of HTML", answer(200, "<!doctype html><title>Welcome</title>", { "Content-Type": "text/html" })],
  ["an empty object", answer(200, {})],
  ["null", answer(200, "null")],
  ["a list", answer(201, "[]")],
  ["nothing at all", answer(204)],
])("a save is kept only if SnapState says so; %s does not, and is not asked for again", async (_, act) => {
  const { client, asked } = await scripted(act);
  const error = await thrown(client().save({ workflowId: "w", step: 1, state: {} }));
  expect(error).toBeInstanceOf(SnapStateError);
  expect((error as Error).message).toContain("is not SnapState");
  expect(asked.length).toBe(1);
});

test.each([answer(200, "null"), answer(200, "[]"), answer(200, "<p>", { "Content-Type": "text/html" })])(
  "a read that something else has answered says so",
  async (act) => {
    const { client, asked } = await scripted(act);
    const its = client();
    for (const read of [() => its.resume("w"), () => its.replay("w"), () => its.listWorkflows(), () => its.usage()]) {
      expect(((await thrown(() => read())) as Error).message).toContain("is not SnapState");
    }
    expect(asked.length).toBe(4);
  },
);
