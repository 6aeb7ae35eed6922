/** When a call is tried again, after how long, and what is said of it. */

import { ConnectionError, RateLimitError, ServiceUnavailableError, type SnapStateError } from "./errors.js";

const FIRST_MS = 200;
const LONGEST_MS = 8_000;
/** No connection was ever made, so nothing can have been done. Only Node says so; browsers tell nothing. */
const NEVER_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);
/** No certificate that is trusted, or nobody who speaks TLS: nothing was sent, and a second later it is the same. */
const DISTRUST = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|ERR_SSL_WRONG_VERSION_NUMBER$)/;
const PASSING = new Set([429, 502, 503, 504]);

/** A call that has failed and is about to be sent again. */
export interface Retry {
  /** Its method and path, such as `POST /checkpoints`. */
  call: string;
  error: SnapStateError;
  /** 1, 2, 3… */
  retry: number;
  maxRetries: number;
  /** Milliseconds until it is sent again. */
  waitMs: number;
  /** Milliseconds until its deadline. */
  leftMs: number;
}

/**
 * Whether the same call may be sent again. `repeatable`: doing it twice is as doing it once (every read; saves, by
 * the API's contract; changes and deletions). What is not (registering a webhook) is repeated only when it surely was
 * not done.
 */
export function mayTryAgain(error: SnapStateError, repeatable: boolean): boolean {
  if (error.status === 429) return true;
  if (codesOf(error).some((code) => DISTRUST.test(code))) return false;
  if (error instanceof ConnectionError) return repeatable || !error.inDoubt;
  return repeatable && error.status !== undefined && PASSING.has(error.status);
}

/** Milliseconds before retry `number` (0, 1, 2…): what the server asks for, and never less than a growing pause. */
export function pause(error: SnapStateError, number: number, random: () => number = Math.random): number {
  const most = Math.min(FIRST_MS * 2 ** number, LONGEST_MS);
  const jittered = most * (0.5 + random() / 2);
  const asked = secondsAsked(error);
  if (asked === undefined) return jittered;
  // Spread out, so that all who were sent away do not return in the same moment; never earlier than asked.
  return Math.max(asked * 1_000 + random() * Math.min(most, 1_000), jittered);
}

function secondsAsked(error: SnapStateError): number | undefined {
  return error instanceof RateLimitError || error instanceof ServiceUnavailableError ? error.retryAfter : undefined;
}

/** The first of each call: who waits in silence looks as if they hung. */
export function warn({ call, error, retry, maxRetries, leftMs }: Retry): void {
  if (retry > 1) return;
  const what = error instanceof ConnectionError ? error.message : `${call}: ${error.message}`;
  const seconds = Math.ceil(leftMs / 1_000);
  console.warn(`SnapState: ${what.replace(/\s+/g, " ")}; trying again, at most ${maxRetries} times in ${seconds} seconds`);
}

/** Seconds told by a Retry-After header in either form: whole seconds, or a date. Undefined for anything else. */
export function retryAfterOf(header: string | null, now: number = Date.now()): number | undefined {
  const told = header?.trim();
  if (!told) return undefined;
  if (/^\d+$/.test(told)) return Number(told);
  const at = /^[A-Za-z]/.test(told) ? Date.parse(told) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1_000));
}

/** Whether this failure of fetch says that no connection was made, or none that anything was sent on. */
export function neverSent(cause: unknown): boolean {
  return codesOf(cause).some((code) => NEVER_SENT.has(code) || DISTRUST.test(code));
}

/** Of an error and what caused it. */
function codesOf(cause: unknown): string[] {
  const codes: string[] = [];
  for (let error = cause, depth = 0; typeof error === "object" && error !== null && depth < 5; depth += 1) {
    const { code, cause: below } = error as { code?: unknown; cause?: unknown };
    if (typeof code === "string") codes.push(code);
    error = below;
  }
  return codes;
}
