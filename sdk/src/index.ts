/** What the package offers. */

export type { Agent, AgentFields, AgentPage, Agents, NewAgent } from "./agents.js";
export type {
  AgentReport,
  Analytics,
  FailureOptions,
  FailureReport,
  Overview,
  PeriodOptions,
  WorkflowReport,
} from "./analytics.js";
export { type ClientOptions, SnapStateClient } from "./client.js";
export {
  AuthError,
  ConflictError,
  ConnectionError,
  type ErrorDetail,
  type Existing,
  ForbiddenError,
  NotFoundError,
  PayloadTooLargeError,
  RateLimitError,
  ServiceUnavailableError,
  SnapStateError,
  TimeoutError,
  ValidationError,
} from "./errors.js";
export type { Page, Pages } from "./pages.js";
export type { Retry } from "./retries.js";
export type { RateLimit } from "./transport.js";
export type * from "./types.js";
export { type VerifyOptions, verifyWebhook, type WebhookEvent, WebhookVerificationError } from "./verify.js";
export type {
  Delivery,
  DeliveryPage,
  NewWebhook,
  Webhook,
  WebhookChanges,
  WebhookEventType,
  WebhookPage,
  Webhooks,
  WebhookWithSecret,
} from "./webhooks.js";
export type { CheckpointOptions, Workflow, WorkflowOptions } from "./workflow.js";
