/** What goes into calls and what comes back. Times are ISO-8601 texts as the API sends them; sizes are bytes. */

export type WorkflowStatus = "active" | "completed" | "failed";

export interface CallOptions {
  /** Ends the call, its retries included; it then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** For one try. */
  timeoutMs?: number;
  /** For all tries and the pauses between them. */
  deadlineMs?: number;
  maxRetries?: number;
}

export interface RawOption {
  /** Also tells each state and metadata as the very text that was saved: `stateJson`, `metadataJson`. */
  raw?: boolean;
}

/** The user's own object; an interface will do, unlike for Record<string, unknown>. */
export type State = object;
export type Metadata = Record<string, unknown>;

export interface SeenError {
  type: string;
  message: string;
}

export interface Diff {
  /** Paths of leaves: `a.b[0].c`, `a["x.y"]`. */
  added: string[];
  removed: string[];
  changed: string[];
  /** There are more than 1,000. */
  truncated?: boolean;
}

export interface SaveFields {
  workflowId: string;
  /** 0 to 2^53 - 1. */
  step: number;
  label?: string;
  agentId?: string;
  metadata?: object;
  /** Instead of `metadata`: the text of an object, sent as it is. */
  metadataJson?: string;
  status?: WorkflowStatus;
  /** An error seen at this step, with any status. */
  error?: SeenError;
  /** How long the workflow stays in the hot tier after this save. */
  ttlSeconds?: number;
  /** Only if this is the head's etag; `*`: only if the workflow exists. */
  ifMatch?: string;
  /** Only if the workflow does not exist. */
  ifNoneMatch?: "*";
  /** False: no diff is computed or returned. */
  diff?: boolean;
}

/** `state`, or `stateJson`: the text of an object, sent as it is. */
export type SaveParams<S extends State = State> = SaveFields &
  ({ state: S; stateJson?: undefined } | { stateJson: string; state?: undefined });

export interface Saved {
  checkpointId: string;
  workflowId: string;
  step: number;
  etag: string;
  createdAt: string;
  sizeBytes: number;
  /** Null when the step before is archived and cannot be read now; left out with `diff: false`. */
  diffFromPrevious?: Diff | null;
  /** It was there already: this is the first answer again, and nothing was counted twice. */
  replayed: boolean;
}

/** Present with `raw: true`. */
export interface RawTexts {
  stateJson: string;
  metadataJson: string | null;
}

interface CheckpointFields<S extends State> {
  checkpointId: string;
  step: number;
  label: string | null;
  state: S;
  metadata: Metadata | null;
  agentId: string | null;
  etag: string;
  createdAt: string;
  sizeBytes: number;
}

export interface LatestCheckpoint<S extends State = Metadata> extends CheckpointFields<S>, Partial<RawTexts> {}

export interface ReplayedCheckpoint<S extends State = Metadata> extends CheckpointFields<S>, Partial<RawTexts> {
  status: WorkflowStatus;
  error: SeenError | null;
}

export interface Checkpoint<S extends State = Metadata> extends ReplayedCheckpoint<S> {
  workflowId: string;
  expiresAt: string | null;
  diffFromPrevious: Diff | null;
}

export type WithRaw<C> = Omit<C, keyof RawTexts> & RawTexts;

export interface Resumed<S extends State = Metadata, C = LatestCheckpoint<S>> {
  workflowId: string;
  status: WorkflowStatus;
  latestCheckpoint: C;
  totalCheckpoints: number;
  workflowStartedAt: string;
  lastActivityAt: string;
  expiresAt: string | null;
  source: "hot" | "warm" | "archive";
}

export interface GetOptions extends CallOptions, RawOption {}

export interface ResumeOptions extends CallOptions, RawOption {
  /** Who resumes. */
  agentId?: string;
}

export interface ReplayOptions extends CallOptions, RawOption {
  fromStep?: number;
  /** Inclusive. */
  toStep?: number;
  /** Exactly this one. */
  label?: string;
  /** Most per page: 1 to 1,000; 100 if not given. */
  limit?: number;
  cursor?: string;
  /** False: `state` is left out. */
  includeState?: boolean;
}

export interface ReplayPage<S extends State = Metadata, C = ReplayedCheckpoint<S>> {
  workflowId: string;
  checkpoints: C[];
  /** How many there are on this page. */
  total: number;
  hasMore: boolean;
  nextCursor: string | null;
}

export interface DiffOptions extends CallOptions {
  fromStep?: number;
  toStep?: number;
}

export interface StepsDiff {
  workflowId: string;
  /** Null: against an empty state. */
  fromStep: number | null;
  toStep: number;
  diff: Diff;
}

export interface WorkflowSummary {
  workflowId: string;
  status: WorkflowStatus;
  latestStep: number;
  label: string | null;
  agentId: string | null;
  metadata: Metadata | null;
  metadataJson?: string | null;
  etag: string;
  totalCheckpoints: number;
  sizeBytes: number;
  startedAt: string;
  lastActivityAt: string;
  expiresAt: string | null;
  pinned: boolean;
  ttlSeconds: number | null;
  keepLast: number | null;
  tier: "live" | "archive";
}

export interface WorkflowFilters {
  /** `stalled`: active, and no save for a day. */
  status?: WorkflowStatus | "stalled";
  agentId?: string;
  label?: string;
  /** Top-level pairs of the head's metadata. */
  metadata?: Record<string, string | number | boolean | null>;
  updatedAfter?: string | Date;
  updatedBefore?: string | Date;
  /** How the id begins. */
  q?: string;
}

export interface PageOptions extends CallOptions {
  /** Most per page: 1 to 200; 50 if not given. */
  limit?: number;
  cursor?: string;
}

export interface ListWorkflowsOptions extends WorkflowFilters, PageOptions, RawOption {}

export interface WorkflowPage {
  workflows: WorkflowSummary[];
  hasMore: boolean;
  nextCursor: string | null;
}

/** What is left out stays; `keepLast: null` keeps everything again. */
export interface WorkflowChanges {
  ttlSeconds?: number;
  pinned?: boolean;
  keepLast?: number | null;
}

export interface Counted {
  count: number;
  freeRemaining: number;
  billable: number;
}

export interface Usage {
  period: { start: string; end: string };
  usage: {
    checkpointWrites: Counted;
    storageGb: { current: number; freeRemaining: number; billable: number };
    resumeCalls: Counted;
    replayCalls: Counted;
  };
  estimatedCharge: string;
}

export interface Health {
  status: "ok" | "degraded";
  version: string;
  uptimeSeconds: number;
  redis: "connected" | "disconnected";
  postgres: "connected" | "disconnected";
  r2: "connected" | "disconnected";
  intakeLagSeconds: number | null;
  timestamp: string;
}
