/** Verifies what a webhook receives by Standard Webhooks, over the very bytes that came; with WebCrypto, everywhere. */

import { SnapStateError } from "./errors.js";

const PREFIX = "whsec_";
const TOLERANCE_SECONDS = 300;

/** What arrived does not prove that it is SnapState's. Answer 400 or 401, and do nothing else. */
export class WebhookVerificationError extends SnapStateError {
  static override readonly name: string = "WebhookVerificationError";
}

export interface WebhookEvent<D = Record<string, unknown>> {
  type: string;
  /** The same on every attempt: who has seen it need not act again. */
  eventId: string;
  timestamp: string;
  webhookId: string;
  event: string;
  /** As it was sent: `workflow_id`, `checkpoint_id`, `step`, … */
  data: D;
}

export interface VerifyOptions {
  /** How far its timestamp may be from now. */
  toleranceSeconds?: number;
  /** The time now, in milliseconds. */
  now?: number;
}

type HeadersLike = Headers | Record<string, string | string[] | undefined> | Iterable<readonly [string, string]>;

/**
 * The event in `body`, once a signature in `headers` has been verified with one of the `secrets`.
 *
 * `body`: the raw bytes or text of the request, before anything has parsed it. `secrets`: that of the webhook, or
 * several while you change it. WebhookVerificationError: it is not from SnapState, was changed, or is too old.
 */
export async function verifyWebhook<D = Record<string, unknown>>(
  body: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookEvent<D>> {
  const named = lowercased(headers);
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    need(named, name),
  );
  checkAge(timestamp as string, options);
  const bytes = bytesOf(body);
  const signed = concatenated(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    if (await isSignedWith(secret, signatures as string, signed)) return eventIn<D>(bytes);
  }
  throw new WebhookVerificationError("No signature fits: it is another secret's, or the body was changed.");
}

async function isSignedWith(secret: string, signatures: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const { subtle } = await webCrypto();
  const key = await subtle.importKey("raw", keyOf(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  for (const signature of signatures.split(" ")) {
    const [version, encoded] = signature.split(",", 2);
    const told = version === "v1" && encoded ? fromBase64(encoded) : undefined;
    if (told && (await subtle.verify("HMAC", key, told, signed))) return true;
  }
  return false;
}

/** After `whsec_`, base64; any other secret, its UTF-8 bytes. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const key = secret.startsWith(PREFIX) ? fromBase64(secret.slice(PREFIX.length)) : new TextEncoder().encode(secret);
  if (!key?.length) throw new WebhookVerificationError(`The secret is empty, or no base64 after ${PREFIX}.`);
  return key;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function checkAge(timestamp: string, options: VerifyOptions): void {
  const { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() } = options;
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError("webhook-timestamp is no time.");
  if (Math.abs(now / 1_000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError("webhook-timestamp is too far from now.");
  }
}

function lowercased(headers: HeadersLike): Map<string, string> {
  const pairs = Symbol.iterator in headers ? headers : Object.entries(headers);
  const named = new Map<string, string>();
  for (const [name, value] of pairs as Iterable<readonly [string, string | string[] | undefined]>) {
    if (value !== undefined) named.set(name.toLowerCase(), Array.isArray(value) ? value.join(" ") : value);
  }
  return named;
}

function need(named: Map<string, string>, name: string): string {
  const value = named.get(name);
  if (!value) throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new Uint8Array(body as ArrayBuffer);
  throw new WebhookVerificationError("The body must be the raw text or bytes, not what was parsed from them.");
}

function concatenated(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}

function eventIn<D>(bytes: Uint8Array): WebhookEvent<D> {
  const told = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  const { type, event_id: eventId, timestamp, webhook_id: webhookId, event, data } = told;
  return { type, eventId, timestamp, webhookId, event, data } as WebhookEvent<D>;
}

/** Node 18 has it in a module only; the name is kept from bundlers, who need not look for it. */
async function webCrypto(): Promise<Crypto> {
  if (globalThis.crypto) return globalThis.crypto;
  const module = "node:crypto";
  return ((await import(/* @vite-ignore */ /* webpackIgnore: true */ module)) as { webcrypto: Crypto }).webcrypto;
}
