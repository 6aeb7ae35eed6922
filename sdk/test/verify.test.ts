/** Webhooks are verified as the library of the standard signs them, over the raw bytes. */

import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { verifyWebhook, WebhookVerificationError } from "../src/index.js";
import { thrown } from "./server.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = `whsec_${btoa("another key of thirty-two bytes.")}`;
const DATA = { workflow_id: "runs/é 🤖", userId: 1, user_id: 2, n: 1 };
const ABOUT = '"event_id":"evt_1","timestamp":"t","webhook_id":"wh_1","event":"checkpoint.saved"';
const BODY = `{"type": "checkpoint.saved",${ABOUT}, "data": ${JSON.stringify(DATA)}}`;

function signed(
  secret = SECRET,
  body = BODY,
  at = new Date(),
  format: "raw" | undefined = undefined,
): Record<string, string> {
  const signature = new Webhook(format ? new TextEncoder().encode(secret) : secret, { format: format as "raw" }).sign(
    "evt_1",
    at,
    body,
  );
  return {
    "Webhook-Id": "evt_1",
    "Webhook-Timestamp": String(Math.floor(at.getTime() / 1_000)),
    "Webhook-Signature": signature,
  };
}

test("the vector of the standard", async () => {
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const now = 1_614_265_330_000;
  await verifyWebhook('{"test": 2432232314}', headers, SECRET, { now });
  expect(await thrown(verifyWebhook('{"test":2432232314}', headers, SECRET, { now }))).toBeInstanceOf(
    WebhookVerificationError,
  );
});

test("the event is told, what it is about untouched", async () => {
  const event = await verifyWebhook(BODY, signed(), SECRET);
  expect(event).toEqual({
    type: "checkpoint.saved",
    eventId: "evt_1",
    timestamp: "t",
    webhookId: "wh_1",
    event: "checkpoint.saved",
    data: DATA,
  });
});

test.each([
  ["text", BODY],
  ["bytes", new TextEncoder().encode(BODY)],
  ["a Buffer", Buffer.from(BODY)],
  [
    "a part of a buffer",
    new TextEncoder().encode(`--${BODY}--`).subarray(2, 2 + new TextEncoder().encode(BODY).length),
  ],
  ["an ArrayBuffer", new TextEncoder().encode(BODY).buffer],
])("a body that is %s", async (_, body) => {
  expect((await verifyWebhook(body, signed(), SECRET)).eventId).toBe("evt_1");
});

test("headers in whatever form a server has them", async () => {
  const headers = signed();
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const lists = Object.fromEntries(Object.entries(lower).map(([name, value]) => [name, [value]]));
  for (const form of [headers, lower, lists, new Headers(headers), new Map(Object.entries(headers))]) {
    expect((await verifyWebhook(BODY, form, SECRET)).eventId).toBe("evt_1");
  }
});

test("a plain secret signs with its UTF-8 bytes", async () => {
  expect((await verifyWebhook(BODY, signed("s3cret é", BODY, new Date(), "raw"), "s3cret é")).eventId).toBe("evt_1");
});

describe("several", () => {
  test("signatures, of which one fits", async () => {
    const headers = signed();
    headers["Webhook-Signature"] =
      `v1,AAAA v2,zzzz v1a,xx v1, ${signed(OTHER)["Webhook-Signature"]} ${headers["Webhook-Signature"]}`;
    expect((await verifyWebhook(BODY, headers, SECRET)).eventId).toBe("evt_1");
  });

  test("secrets, of which one fits", async () => {
    expect((await verifyWebhook(BODY, signed(), [OTHER, SECRET])).eventId).toBe("evt_1");
  });
});

test.each<[string, (headers: Record<string, string>) => [string | object, Record<string, string>, string | string[]]]>([
  ["another secret", (headers) => [BODY, headers, OTHER]],
  ["no secret", (headers) => [BODY, headers, []]],
  ["an empty secret", (headers) => [BODY, headers, ""]],
  ["a secret that is no base64", (headers) => [BODY, headers, "whsec_é"]],
  ["an empty secret after whsec_", (headers) => [BODY, headers, "whsec_"]],
  ["another body", (headers) => [BODY.replace("🤖", "🦾"), headers, SECRET]],
  ["a body that was parsed", (headers) => [JSON.parse(BODY), headers, SECRET]],
  ["another id", (headers) => [BODY, { ...headers, "Webhook-Id": "evt_2" }, SECRET]],
  ["no id", ({ "Webhook-Id": _, ...headers }) => [BODY, headers, SECRET]],
  ["no signature", ({ "Webhook-Signature": _, ...headers }) => [BODY, headers, SECRET]],
  ["a signature of nothing", (headers) => [BODY, { ...headers, "Webhook-Signature": "v1, v1 ," }, SECRET]],
  ["a signature that is no base64", (headers) => [BODY, { ...headers, "Webhook-Signature": "v1,€€" }, SECRET]],
  ["an odd time", (headers) => [BODY, { ...headers, "Webhook-Timestamp": "now" }, SECRET]],
  ["too old", () => [BODY, signed(SECRET, BODY, new Date(Date.now() - 301_000)), SECRET]],
  ["of the future", () => [BODY, signed(SECRET, BODY, new Date(Date.now() + 302_000)), SECRET]],
])("refused: %s", async (_, made) => {
  const [body, headers, secrets] = made(signed());
  expect(await thrown(verifyWebhook(body as string, headers, secrets))).toBeInstanceOf(WebhookVerificationError);
});

test("how old it may be is up to you", async () => {
  const old = signed(SECRET, BODY, new Date(Date.now() - 3_600_000));
  expect((await verifyWebhook(BODY, old, SECRET, { toleranceSeconds: 4_000 })).eventId).toBe("evt_1");
});
