/** Who hears of what: `client.webhooks`. What arrives there is verified by `verifyWebhook`. */

import { snaked } from "./agents.js";
import { encodeBody } from "./json.js";
import { type Page, Pages } from "./pages.js";
import { query, segment } from "./paths.js";
import type { Transport } from "./transport.js";
import type { CallOptions, PageOptions } from "./types.js";

export type WebhookEventType =
  | "checkpoint.saved"
  | "workflow.resumed"
  | "workflow.completed"
  | "workflow.failed"
  | "workflow.expired"
  | "workflow.archived"
  | "quota.exceeded";

export interface NewWebhook {
  url: string;
  events: WebhookEventType[];
  /** Made by the server when it is left out: `whsec_…`. */
  secret?: string;
  description?: string;
}

export interface Webhook {
  webhookId: string;
  url: string;
  events: string[];
  description: string;
  status: "active" | "disabled";
  disabledReason: string | null;
  failingSince: string | null;
  createdAt: string;
}

/** Shown once, when it was made. */
export interface WebhookWithSecret extends Webhook {
  secret: string;
}

export interface WebhookChanges {
  url?: string;
  events?: WebhookEventType[];
  description?: string | null;
  status?: "active" | "disabled";
}

export interface Delivery {
  deliveryId: string;
  eventId: string;
  event: string;
  status: "pending" | "delivered" | "failed";
  createdAt: string;
  nextAttemptAt: string | null;
  attempts: {
    at: string;
    statusCode: number | null;
    durationMs: number;
    error: string | null;
    /** How the answer's body begins. */
    response: string;
  }[];
}

export interface WebhookPage extends Page {
  webhooks: Webhook[];
}

export interface DeliveryPage extends Page {
  deliveries: Delivery[];
}

export class Webhooks {
  constructor(private readonly transport: Transport) {}

  /** Not repeated after a lost answer: there could be two then. */
  async create(webhook: NewWebhook, options?: CallOptions): Promise<WebhookWithSecret> {
    const call = { method: "POST" as const, path: "/webhooks", body: encodeBody(snaked(webhook)), repeatable: false };
    return (await this.transport.send(call, options)).value as WebhookWithSecret;
  }

  list(options: PageOptions = {}): Pages<WebhookPage, Webhook> {
    return new Pages(this.pagesOf<WebhookPage>("/webhooks", options), (page) => page.webhooks);
  }

  async get(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return (await this.transport.send({ method: "GET", path: pathOf(webhookId) }, options)).value as Webhook;
  }

  /** What is left out stays. */
  async update(webhookId: string, changes: WebhookChanges, options?: CallOptions): Promise<Webhook> {
    const call = { method: "PATCH" as const, path: pathOf(webhookId), body: encodeBody(snaked(changes)) };
    return (await this.transport.send(call, options)).value as Webhook;
  }

  async delete(webhookId: string, options?: CallOptions): Promise<void> {
    await this.transport.send({ method: "DELETE", path: pathOf(webhookId) }, options);
  }

  /**
   * Another secret, yours or one made by the server; the one before also signs for 24 hours.
   * Not repeated after a lost answer: each time the secret that your receiver knows would move further back.
   */
  async rotateSecret(webhookId: string, secret?: string, options?: CallOptions): Promise<WebhookWithSecret> {
    const path = `${pathOf(webhookId)}/rotate-secret`;
    const call = { method: "POST" as const, path, body: encodeBody({ secret }), repeatable: false };
    return (await this.transport.send(call, options)).value as WebhookWithSecret;
  }

  /** Sends an event `webhook.test`, whatever the webhook hears of. */
  async test(webhookId: string, options?: CallOptions): Promise<Delivery> {
    const call = { method: "POST" as const, path: `${pathOf(webhookId)}/test`, repeatable: false };
    return (await this.transport.send(call, options)).value as Delivery;
  }

  /** Of the last 30 days. */
  deliveries(webhookId: string, options: PageOptions = {}): Pages<DeliveryPage, Delivery> {
    return new Pages(this.pagesOf<DeliveryPage>(`${pathOf(webhookId)}/deliveries`, options), (page) => page.deliveries);
  }

  /** The same message under the same `webhook-id`, so that receivers can tell. */
  async resend(webhookId: string, deliveryId: string, options?: CallOptions): Promise<Delivery> {
    const path = `${pathOf(webhookId)}/deliveries/${segment(deliveryId, "deliveryId")}/resend`;
    return (await this.transport.send({ method: "POST", path, repeatable: false }, options)).value as Delivery;
  }

  private pagesOf<P extends Page>(path: string, options: PageOptions): (next?: string) => Promise<P> {
    const { signal, timeoutMs, deadlineMs, maxRetries, cursor, ...filters } = options;
    return async (next = cursor) => {
      const call = { method: "GET" as const, path: path + query({ ...filters, cursor: next }) };
      return (await this.transport.send(call, { signal, timeoutMs, deadlineMs, maxRetries })).value as P;
    };
  }
}

function pathOf(webhookId: string): string {
  return `/webhooks/${segment(webhookId, "webhookId")}`;
}
