/** The client: checkpoints and workflows here, the rest by `agents`, `analytics` and `webhooks`. */

import { Agents, opaque, snaked } from "./agents.js";
import { Analytics } from "./analytics.js";
import { ServiceUnavailableError, ValidationError } from "./errors.js";
import { encodeBody, encodeObject, JsonText } from "./json.js";
import { Pages } from "./pages.js";
import { query, segment } from "./paths.js";
import { type Retry, warn } from "./retries.js";
import { type Answer, type Call, type RateLimit, Transport } from "./transport.js";
import type * as T from "./types.js";
import { Webhooks } from "./webhooks.js";
import { Workflow, type WorkflowOptions } from "./workflow.js";

export interface ClientOptions {
  /** `snp_…`; else SNAPSTATE_API_KEY of the environment. */
  apiKey?: string;
  /** Where the API is; else SNAPSTATE_API_URL of the environment. */
  baseUrl?: string;
  /** For one try: 30,000. */
  timeoutMs?: number;
  /** For all tries and the pauses between them: 120,000, so that a whole window of the rate limit can be waited for. */
  deadlineMs?: number;
  /** How often a call is repeated where that is safe: 8. */
  maxRetries?: number;
  /** Told of every repetition. Without it the first of each call is a line of console.warn. */
  onRetry?: (retry: Retry) => void;
  /** For every read: also tell states and metadata as the texts that were saved. */
  raw?: boolean;
  /** Instead of the global one. */
  fetch?: typeof globalThis.fetch;
}

const DEFAULTS = { timeoutMs: 30_000, deadlineMs: 120_000, maxRetries: 8 };
/** What fetch takes in a header. */
const HEADER = /^[\t\x20-\x7e\x80-\xff]*$/;
type RawReplay<S extends T.State> = T.WithRaw<T.ReplayedCheckpoint<S>>;

export class SnapStateClient {
  readonly agents: Agents;
  readonly analytics: Analytics;
  readonly webhooks: Webhooks;
  readonly baseUrl: string;
  private readonly transport: Transport;
  private readonly raw: boolean;

  constructor(options: ClientOptions = {}) {
    const {
      apiKey = environment("SNAPSTATE_API_KEY"),
      timeoutMs,
      deadlineMs,
      maxRetries,
      onRetry = warn,
      fetch,
      raw = false,
    } = options;
    if (!apiKey) throw new ValidationError("apiKey is missing: give it, or set SNAPSTATE_API_KEY.");
    if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new ValidationError("apiKey has characters that no key has.");
    this.baseUrl = addressOf(options.baseUrl ?? environment("SNAPSTATE_API_URL"));
    this.raw = raw;
    this.transport = new Transport({
      apiKey,
      baseUrl: this.baseUrl,
      timeoutMs: timeoutMs ?? DEFAULTS.timeoutMs,
      deadlineMs: deadlineMs ?? DEFAULTS.deadlineMs,
      maxRetries: maxRetries ?? DEFAULTS.maxRetries,
      onRetry,
      fetch,
    });
    this.agents = new Agents(this.transport, raw);
    this.analytics = new Analytics(this.transport);
    this.webhooks = new Webhooks(this.transport);
  }

  /** What the last answer said of the key's rate limit; undefined before the first. */
  get rateLimit(): RateLimit | undefined {
    return this.transport.rateLimit;
  }

  /** Saves a checkpoint. Once this resolves it is kept; the same save again answers with the first result. */
  async save<S extends T.State = T.State>(params: T.SaveParams<S>, options?: T.CallOptions): Promise<T.Saved> {
    const { state, stateJson, metadata, metadataJson, ttlSeconds, ifMatch, ifNoneMatch, diff = true, ...rest } = params;
    const isText = stateJson !== undefined;
    const text = isText ? opaque("state", state, stateJson) : new JsonText(encodeObject(state, "state"));
    const body = encodeBody({ ...snaked(rest), state: text, metadata: opaque("metadata", metadata, metadataJson) });
    const headers = headersOf({
      "X-Checkpoint-TTL": ttlSeconds,
      "If-Match": ifMatch,
      "If-None-Match": ifNoneMatch,
      Prefer: diff ? undefined : "return=minimal",
    });
    const { status, value } = await this.transport.send(
      { method: "POST", path: "/checkpoints", body, headers },
      options,
    );
    const saved = value as Omit<T.Saved, "replayed">;
    if (typeof saved.checkpointId !== "string") throw this.transport.stranger(status); // never take it for kept
    return { ...saved, replayed: status === 200 };
  }

  /** With `ifNoneMatch`: null while it still has that etag. */
  get<S extends T.State = T.Metadata>(
    checkpointId: string,
    options: T.GetOptions & { ifNoneMatch: string },
  ): Promise<T.Checkpoint<S> | null>;
  get<S extends T.State = T.Metadata>(
    checkpointId: string,
    options: T.GetOptions & { raw: true },
  ): Promise<T.WithRaw<T.Checkpoint<S>>>;
  get<S extends T.State = T.Metadata>(checkpointId: string, options?: T.GetOptions): Promise<T.Checkpoint<S>>;
  async get(checkpointId: string, options: T.GetOptions & { ifNoneMatch?: string } = {}): Promise<unknown> {
    const { ifNoneMatch, ...calls } = options;
    const headers = headersOf({ "If-None-Match": ifNoneMatch });
    const { value } = await this.ask(`/checkpoints/${segment(checkpointId, "checkpointId")}`, calls, {
      headers,
      accepts: 304,
    });
    return value ?? null;
  }

  /** The newest checkpoint. NotFoundError: nothing has been saved yet. */
  resume<S extends T.State = T.Metadata>(
    workflowId: string,
    options: T.ResumeOptions & { raw: true },
  ): Promise<T.Resumed<S, T.WithRaw<T.LatestCheckpoint<S>>>>;
  resume<S extends T.State = T.Metadata>(workflowId: string, options?: T.ResumeOptions): Promise<T.Resumed<S>>;
  async resume(workflowId: string, options: T.ResumeOptions = {}): Promise<unknown> {
    return (await this.ask(`${pathOf(workflowId)}/resume`, options)).value;
  }

  /** The history in step order: await it for a page, iterate over it for all checkpoints. */
  replay<S extends T.State = T.Metadata>(
    workflowId: string,
    options: T.ReplayOptions & { raw: true },
  ): Pages<T.ReplayPage<S, RawReplay<S>>, RawReplay<S>>;
  replay<S extends T.State = T.Metadata>(
    workflowId: string,
    options?: T.ReplayOptions,
  ): Pages<T.ReplayPage<S>, T.ReplayedCheckpoint<S>>;
  replay(workflowId: string, options: T.ReplayOptions = {}): unknown {
    const path = `${pathOf(workflowId)}/replay`;
    const fetchPage = async (cursor = options.cursor): Promise<T.ReplayPage> =>
      (await this.ask(path, { ...options, cursor })).value as T.ReplayPage;
    return new Pages(fetchPage, (page) => page.checkpoints);
  }

  /** Paths that differ between two steps; of the two newest when none are named. */
  async diff(workflowId: string, options: T.DiffOptions = {}): Promise<T.StepsDiff> {
    return (await this.ask(`${pathOf(workflowId)}/diff`, options)).value as T.StepsDiff;
  }

  /** Newest activity first: await it for a page, iterate over it for all. Trails saves by up to two seconds. */
  listWorkflows(options: T.ListWorkflowsOptions = {}): Pages<T.WorkflowPage, T.WorkflowSummary> {
    const fetchPage = async (cursor = options.cursor): Promise<T.WorkflowPage> =>
      (await this.ask("/workflows", { ...options, cursor })).value as T.WorkflowPage;
    return new Pages(fetchPage, (page) => page.workflows);
  }

  async getWorkflow(workflowId: string, options: T.CallOptions & T.RawOption = {}): Promise<T.WorkflowSummary> {
    return (await this.ask(pathOf(workflowId), options)).value as T.WorkflowSummary;
  }

  async updateWorkflow(
    workflowId: string,
    changes: T.WorkflowChanges,
    options?: T.CallOptions,
  ): Promise<T.WorkflowSummary> {
    const call: Call = { method: "PATCH", path: pathOf(workflowId), body: encodeBody(snaked(changes)), raw: this.raw };
    return (await this.transport.send(call, options)).value as T.WorkflowSummary;
  }

  /** Erases it from every tier; every read answers NotFoundError from then on. */
  async deleteWorkflow(workflowId: string, options?: T.CallOptions): Promise<void> {
    await this.transport.send({ method: "DELETE", path: pathOf(workflowId) }, options);
  }

  /** Resumes a workflow, or begins it, and saves its steps: `wf.state`, `await wf.checkpoint("label", state)`. */
  workflow<S extends T.State = T.Metadata>(workflowId: string, options: WorkflowOptions = {}): Promise<Workflow<S>> {
    return Workflow.open<S>(this, workflowId, options);
  }

  /** This month's use and what it costs. */
  async usage(options: T.CallOptions = {}): Promise<T.Usage> {
    return (await this.ask("/usage", options)).value as T.Usage;
  }

  /** How the service is, also while it is not well. */
  async health(options: T.CallOptions = {}): Promise<T.Health> {
    const { value } = await this.ask("/health", options, { accepts: 503 });
    const told = value as T.Health;
    if (told.status === undefined) throw new ServiceUnavailableError("The service does not answer.", { status: 503 });
    return told;
  }

  /** A read: what is left of the options, once those of the call are taken out, are its filters. */
  private ask<O extends T.CallOptions & T.RawOption>(
    path: string,
    options: O,
    call: Partial<Call> = {},
  ): Promise<Answer> {
    const { signal, timeoutMs, deadlineMs, maxRetries, raw = this.raw, ...filters } = options;
    return this.transport.send(
      { method: "GET", path: path + query(filters), raw, ...call },
      { signal, timeoutMs, deadlineMs, maxRetries },
    );
  }
}

function pathOf(workflowId: string): string {
  return `/workflows/${segment(workflowId, "workflowId")}`;
}

function headersOf(wanted: Record<string, string | number | undefined>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    if (!HEADER.test(String(value))) throw ValidationError.at(name, "has characters that a header cannot hold");
    headers[name] = String(value);
  }
  return headers;
}

function environment(name: string): string | undefined {
  return typeof process === "object" ? process.env?.[name] || undefined : undefined;
}

function addressOf(told: string | undefined): string {
  if (!told) throw new ValidationError("baseUrl is missing: give it, or set SNAPSTATE_API_URL.");
  let url: URL;
  try {
    url = new URL(told);
  } catch {
    throw new ValidationError(`baseUrl is no address: ${told}`);
  }
  if (!/^https?:$/.test(url.protocol))
    throw new ValidationError(`baseUrl must begin with https:// or http://: ${told}`);
  if (url.username || url.password || url.search || url.hash)
    throw new ValidationError("baseUrl must be an address alone.");
  return url.href.replace(/\/+$/, "");
}
