/** One call over HTTP: tried again while that is safe, bounded by a timeout for each try and a deadline for all. */

import { read } from "./envelope.js";
import { ConnectionError, NotFoundError, SnapStateError, TimeoutError, errorOf } from "./errors.js";
import { mayTryAgain, neverSent, pause, type Retry, retryAfterOf } from "./retries.js";
import type { CallOptions } from "./types.js";

export interface Call {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With its query, ids percent-encoded. */
  path: string;
  body?: string;
  headers?: Record<string, string>;
  /** Doing it twice is as doing it once. Default true. */
  repeatable?: boolean;
  /** A status that is an answer, not a failure, though it is none of 200 to 299. */
  accepts?: number;
  raw?: boolean;
}

export interface Answer {
  status: number;
  /** Undefined where there is no body. */
  value: unknown;
}

export interface RateLimit {
  limit: number;
  remaining: number;
  /** Seconds. */
  reset: number;
}

export interface Settings {
  baseUrl: string;
  apiKey: string | undefined;
  timeoutMs: number;
  deadlineMs: number;
  maxRetries: number;
  onRetry: (retry: Retry) => void;
  fetch: typeof globalThis.fetch | undefined;
}

/** That of the package. */
export const VERSION = "1.0.0";
const BODILESS = new Set([204, 304]);
/** What a timer can wait; more would be nothing at all. */
const LONGEST_MS = 2 ** 31 - 1;

export class Transport {
  private seen: Headers | undefined;
  /** Private at run time too, as the headers are: neither console.log nor JSON.stringify shows the key. */
  readonly #settings: Settings;
  readonly #headers: Record<string, string>;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#headers = { Accept: "application/json" };
    if (settings.apiKey) this.#headers.Authorization = `Bearer ${settings.apiKey}`;
    if (typeof process === "object" && process.versions?.node) this.#headers["User-Agent"] = `snapstate-js/${VERSION}`;
  }

  /** What the last answer said of the key's rate limit. */
  get rateLimit(): RateLimit | undefined {
    const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
      this.seen?.get(`ratelimit-${name}`),
    );
    return limit ? { limit: Number(limit), remaining: Number(remaining), reset: Number(reset) } : undefined;
  }

  async send(call: Call, options: CallOptions = {}): Promise<Answer> {
    const { signal, maxRetries = this.#settings.maxRetries, deadlineMs = this.#settings.deadlineMs } = options;
    const timeoutMs = options.timeoutMs ?? this.#settings.timeoutMs;
    const end = performance.now() + deadlineMs;
    for (let retry = 0, uncertain = false; ; retry += 1) {
      try {
        return await this.once(call, Math.min(timeoutMs, end - performance.now()), signal);
      } catch (error) {
        if (!(error instanceof SnapStateError)) throw error; // the caller's own abort
        if (uncertain && call.method === "DELETE" && error instanceof NotFoundError) {
          return { status: 204, value: undefined }; // a try before this one had done it
        }
        const wait = pause(error, retry);
        const inTime = performance.now() + wait < end;
        if (retry >= maxRetries || !inTime || !mayTryAgain(error, call.repeatable ?? true)) throw error;
        const asked = `${call.method} ${call.path.split("?")[0]}`;
        const leftMs = end - performance.now();
        this.#settings.onRetry({ call: asked, error, retry: retry + 1, maxRetries, waitMs: wait, leftMs });
        uncertain ||= error instanceof ConnectionError ? error.inDoubt : error.status !== 429;
        await sleep(wait, signal);
      }
    }
  }

  private async once(call: Call, timeoutMs: number, signal: AbortSignal | undefined): Promise<Answer> {
    signal?.throwIfAborted();
    const stop = new AbortController();
    const give = (): void => stop.abort(signal?.reason);
    signal?.addEventListener("abort", give, { once: true });
    let late = false;
    const timer = setTimeout(
      () => {
        late = true;
        stop.abort();
      },
      Math.min(Math.max(timeoutMs, 1), LONGEST_MS),
    );
    try {
      return await this.exchange(call, stop.signal);
    } catch (error) {
      if (error instanceof SnapStateError) throw error;
      signal?.throwIfAborted();
      const asked = `${call.method} ${this.#settings.baseUrl}${call.path}`;
      if (late) throw new TimeoutError(`${asked}: no answer in ${Math.round(timeoutMs)} ms`, { cause: error });
      throw new ConnectionError(`${asked}: ${reasonOf(error)}`, { cause: error }, !neverSent(error));
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", give);
    }
  }

  private async exchange(call: Call, signal: AbortSignal): Promise<Answer> {
    const { method, path, body } = call;
    const headers = {
      ...this.#headers,
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...call.headers,
    };
    const send = this.#settings.fetch ?? globalThis.fetch;
    const response = await send(this.#settings.baseUrl + path, { method, headers, body, signal, redirect: "manual" });
    const text = await response.text();
    this.seen = response.headers;
    const { status } = response;
    if ((status >= 200 && status < 300) || status === call.accepts) {
      return { status, value: this.valueOf(response, text, call) };
    }
    if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
      throw new SnapStateError(`${this.#settings.baseUrl} redirects: set baseUrl to where the API is.`, { status });
    }
    const requestId = response.headers.get("x-request-id") ?? undefined;
    throw errorOf(status, text, requestId, retryAfterOf(response.headers.get("retry-after")));
  }

  private valueOf({ status, headers }: Response, text: string, { method, accepts, raw = false }: Call): unknown {
    if (BODILESS.has(status) && (method === "DELETE" || status === accepts)) return undefined;
    const isJson = /json/i.test(headers.get("content-type") ?? "json");
    if (!BODILESS.has(status) && (isJson || status === accepts)) {
      const value = read(text, raw);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
    }
    throw this.stranger(status);
  }

  /** Something in between, or at a wrong address, has answered: it would do so again. */
  stranger(status: number): SnapStateError {
    return new SnapStateError(`What answered at ${this.#settings.baseUrl} is not SnapState: is that the baseUrl?`, {
      status,
    });
  }
}

/** The innermost reason: fetch itself only says "fetch failed". */
function reasonOf(error: unknown): string {
  let found = error;
  while (found instanceof Error && found.cause instanceof Error) found = found.cause;
  if (!(found instanceof Error)) return String(found);
  return found.message || (found as { code?: string }).code || found.name;
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      signal?.removeEventListener("abort", stopped);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, LONGEST_MS));
    const stopped = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    if (signal?.aborted) stopped();
    else signal?.addEventListener("abort", stopped, { once: true });
  });
}
