/** One agent's hold on one workflow: resumed, its steps numbered, each save guarded by the etag of the one before. */

import { opaque } from "./agents.js";
import type { SnapStateClient } from "./client.js";
import { NotFoundError, SnapStateError } from "./errors.js";
import { encodeObject, JsonText } from "./json.js";
import type { CallOptions, Metadata, Resumed, Saved, SeenError, State, WorkflowStatus } from "./types.js";

export interface WorkflowOptions extends CallOptions {
  /** Who works on it: told on resume and with every save. */
  agentId?: string;
  /** For every save that does not say otherwise. */
  ttlSeconds?: number;
}

export interface CheckpointOptions extends CallOptions {
  metadata?: object;
  status?: WorkflowStatus;
  error?: SeenError;
  ttlSeconds?: number;
  /** False: no diff is computed or returned. */
  diff?: boolean;
}

export const FIRST_STEP = 1;
const ASYNC_DISPOSE: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? (Symbol.for("Symbol.asyncDispose") as never);

export class Workflow<S extends State = Metadata> {
  /** The state of the newest checkpoint: resumed, saved last, or being saved. Undefined while there is none. */
  state: S | undefined;
  /** The step of that checkpoint; undefined while there is none. */
  step: number | undefined;
  label: string | null = null;
  etag: string | undefined;
  status: WorkflowStatus = "active";
  /** Whether something had been saved before it was opened. */
  resumed = false;
  /** What the server has: the state falls back to it when that of a checkpoint could not be saved. */
  private kept: S | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private closed = false;

  private constructor(
    private readonly client: SnapStateClient,
    readonly id: string,
    private readonly options: WorkflowOptions,
  ) {}

  static async open<S extends State>(
    client: SnapStateClient,
    id: string,
    options: WorkflowOptions,
  ): Promise<Workflow<S>> {
    const workflow = new Workflow<S>(client, id, options);
    await workflow.refresh();
    workflow.resumed = workflow.step !== undefined;
    return workflow;
  }

  /** The number of the next checkpoint. */
  get nextStep(): number {
    return this.step === undefined ? FIRST_STEP : this.step + 1;
  }

  /**
   * Saves the next step; `state` as it is now, unless another is given. Calls that are not awaited are saved one after
   * the other, in their order.
   * ConflictError: somebody else has saved meanwhile; `refresh()` shows what, and goes on from there.
   * ConnectionError: it may have been saved all the same; the same checkpoint again is safe.
   */
  async checkpoint(label?: string, state: S | undefined = this.state, options: CheckpointOptions = {}): Promise<Saved> {
    if (this.closed) throw new SnapStateError("This workflow has been closed.", { code: "CLOSED" });
    return this.inTurn(this.saving(label, state, options));
  }

  /** The last checkpoint: the workflow is completed. */
  complete(label = "completed", state: S | undefined = this.state, options: CheckpointOptions = {}): Promise<Saved> {
    return this.checkpoint(label, state, { ...options, status: "completed" });
  }

  /** A checkpoint that holds the reason, with which the workflow has failed; it may still be gone on with. */
  fail(
    reason: unknown,
    state: S | undefined = this.state,
    { label = "failed", ...options }: CheckpointOptions & { label?: string } = {},
  ): Promise<Saved> {
    return this.checkpoint(label, state, { ...options, status: "failed", error: errorSeen(reason) });
  }

  /** Takes over what is there now, once what is being saved is. */
  refresh(): Promise<void> {
    return this.inTurn(() => this.look());
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const doing = this.last.then(work);
    this.last = doing.catch(() => undefined);
    return doing;
  }

  private async look(): Promise<void> {
    const { agentId, signal, timeoutMs, deadlineMs, maxRetries } = this.options;
    const call = { agentId, signal, timeoutMs, deadlineMs, maxRetries };
    const resumed = await this.client.resume<S>(this.id, call).catch((error: unknown) => {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    });
    this.take(resumed);
  }

  /** Waits for what is being saved; afterwards nothing can be. `await using` calls it. */
  async close(): Promise<void> {
    this.closed = true;
    await this.last;
  }

  async [ASYNC_DISPOSE](): Promise<void> {
    await this.close();
  }

  /** Takes the texts now, so that what changes in the state while it waits for its turn is not saved with it. */
  private saving(
    label: string | undefined,
    state: S | undefined,
    { metadata, ...options }: CheckpointOptions,
  ): () => Promise<Saved> {
    const texts = {
      stateJson: new JsonText(encodeObject(state, "state")),
      metadataJson: opaque("metadata", metadata, undefined),
    };
    this.state = state; // now: a call behind this one that gives no state means this one's
    return async () => {
      const before = this.kept;
      try {
        const saved = await this.save(label, texts as never, options); // JsonText: texts that need no second check
        if (this.state === before) this.state = state; // a refresh that came first had put it back
        this.kept = state;
        return saved;
      } catch (error) {
        if (this.state === state) this.state = before;
        throw error;
      }
    };
  }

  private async save(
    label: string | undefined,
    texts: { stateJson: string },
    options: CheckpointOptions,
  ): Promise<Saved> {
    const { signal, timeoutMs, deadlineMs, maxRetries, ...more } = options;
    const { agentId, ttlSeconds, signal: ours, ...calls } = this.options;
    const step = this.nextStep;
    const guard = this.etag === undefined ? { ifNoneMatch: "*" as const } : { ifMatch: this.etag };
    const saved = await this.client.save(
      { agentId, ttlSeconds, ...more, ...guard, ...texts, workflowId: this.id, step, label },
      { ...calls, ...defined({ timeoutMs, deadlineMs, maxRetries }), signal: signal ?? ours },
    );
    Object.assign(this, { step, label: label ?? null, etag: saved.etag, status: more.status ?? "active" });
    return saved;
  }

  private take(resumed: Resumed<S> | undefined): void {
    const { state, step, label = null, etag } = resumed?.latestCheckpoint ?? {};
    Object.assign(this, { state, kept: state, step, label, etag, status: resumed?.status ?? "active" });
  }
}

function defined<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** A thrown value as the API takes it. Anything can be thrown, and what went wrong must not keep it from being told. */
function errorSeen(reason: unknown): SeenError {
  const { name = "Error", message = reason } = reason instanceof Error ? reason : {};
  return { type: cut(told(name), 100), message: cut(told(message), 2_000) };
}

function told(value: unknown): string {
  try {
    return String(value).replace(/\p{Surrogate}/gu, "\ufffd");
  } catch {
    return Object.prototype.toString.call(value); // it has no text of its own
  }
}

/** By characters as the API counts them, so that none is cut in two. */
function cut(text: string, most: number): string {
  const letters = text.length > most ? Array.from(text) : undefined;
  return letters && letters.length > most ? letters.slice(0, most).join("") : text;
}
