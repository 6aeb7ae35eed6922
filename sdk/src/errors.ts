/** Whatever goes wrong is a SnapStateError: its class says what, `code` is for programs, `requestId` for support. */

export interface ErrorDetail {
  /** Where in the request: `state.score`, `metadata.tags[0]`. */
  path: string;
  message: string;
}

export interface ErrorFacts {
  /** The HTTP status; undefined when no answer came, or nothing was sent. */
  status?: number;
  code?: string;
  requestId?: string;
  cause?: unknown;
}

export class SnapStateError extends Error {
  readonly status: number | undefined;
  readonly code: string;
  readonly requestId: string | undefined;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.name;
    this.status = facts.status;
    this.code = facts.code ?? "";
    this.requestId = facts.requestId;
  }
}

/** 401: the key is missing, unknown, revoked or expired. */
export class AuthError extends SnapStateError {
  static override readonly name: string = "AuthError";
}

/** 403: the key lacks the scope, or the account is not active. */
export class ForbiddenError extends SnapStateError {
  static override readonly name: string = "ForbiddenError";
}

/** 404: there is nothing under this id. */
export class NotFoundError extends SnapStateError {
  static override readonly name: string = "NotFoundError";
}

export interface Existing {
  checkpointId: string;
  etag: string;
}

/** 409: other contents are there, or the head is not the one that the guard names. */
export class ConflictError extends SnapStateError {
  static override readonly name: string = "ConflictError";
  /** What is there; null when there is nothing. */
  readonly existing: Existing | null;

  constructor(message: string, facts: ErrorFacts, existing: Existing | null) {
    super(message, facts);
    this.existing = existing;
  }
}

/** 413: the state is larger than 1 MiB, or the metadata than 64 KiB. */
export class PayloadTooLargeError extends SnapStateError {
  static override readonly name: string = "PayloadTooLargeError";
}

/** 400, or refused here before anything was sent (then `status` is undefined). */
export class ValidationError extends SnapStateError {
  static override readonly name: string = "ValidationError";
  readonly details: ErrorDetail[];

  constructor(message: string, facts: ErrorFacts = {}, details: ErrorDetail[] = []) {
    super(message, facts);
    this.details = details;
  }

  /** Refused before it is sent. */
  static at(path: string, message: string): ValidationError {
    return new ValidationError(`${path}: ${message}`, { code: "VALIDATION_ERROR" }, [{ path, message }]);
  }
}

/** 429, after the retries that were allowed. */
export class RateLimitError extends SnapStateError {
  static override readonly name: string = "RateLimitError";
  /** Seconds until the next call may succeed; undefined when the answer did not say. */
  readonly retryAfter: number | undefined;

  constructor(message: string, facts: ErrorFacts, retryAfter?: number) {
    super(message, facts);
    this.retryAfter = retryAfter;
  }
}

/** 503 (or 502, 504 of something in between), after the retries that were allowed. */
export class ServiceUnavailableError extends SnapStateError {
  static override readonly name: string = "ServiceUnavailableError";
  readonly retryAfter: number | undefined;

  constructor(message: string, facts: ErrorFacts, retryAfter?: number) {
    super(message, facts);
    this.retryAfter = retryAfter;
  }
}

/** No answer, or half of one. */
export class ConnectionError extends SnapStateError {
  static override readonly name: string = "ConnectionError";
  /** Whether the server may have done what was asked all the same. False only where that is sure. */
  readonly inDoubt: boolean;

  constructor(message: string, facts: ErrorFacts = {}, inDoubt = true) {
    super(message, facts);
    this.inDoubt = inDoubt;
  }
}

/** No answer in time: `timeoutMs` for one try, `deadlineMs` for all. */
export class TimeoutError extends ConnectionError {
  static override readonly name: string = "TimeoutError";
}

interface Refusal {
  error?: { code?: string; message?: string; details?: ErrorDetail[]; request_id?: string };
  existing?: { checkpoint_id: string; etag: string } | null;
}

/** The error that an answer of 300 or more tells. */
export function errorOf(
  status: number,
  text: string,
  requestId: string | undefined,
  retryAfter?: number,
): SnapStateError {
  const body = refusalIn(text);
  const facts = { status, code: body.error?.code, requestId: body.error?.request_id ?? requestId };
  const message = body.error?.message ?? said(status, text);
  switch (status) {
    case 400:
      return facts.code === "VALIDATION_ERROR" || facts.code === undefined
        ? new ValidationError(message, facts, body.error?.details ?? [])
        : new SnapStateError(message, facts);
    case 401:
      return new AuthError(message, facts);
    case 403:
      return new ForbiddenError(message, facts);
    case 404: // one that names no code is a proxy's: nobody may take it for "nothing was saved yet"
      return facts.code === undefined
        ? new SnapStateError("What answered 404 is not SnapState: is that the baseUrl?", facts)
        : new NotFoundError(message, facts);
    case 409: {
      const found = body.existing;
      return new ConflictError(message, facts, found ? { checkpointId: found.checkpoint_id, etag: found.etag } : null);
    }
    case 413:
      return new PayloadTooLargeError(message, facts);
    case 429:
      return new RateLimitError(message, facts, retryAfter);
    case 502:
    case 503:
    case 504:
      return new ServiceUnavailableError(message, facts, retryAfter);
    default:
      return new SnapStateError(message, facts);
  }
}

function refusalIn(text: string): Refusal {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Refusal) : {};
  } catch {
    return {}; // a page of some gateway in between
  }
}

function said(status: number, text: string): string {
  const told = text.trim().slice(0, 200);
  return told ? `HTTP ${status}: ${told}` : `HTTP ${status}`;
}
