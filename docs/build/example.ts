/** A body to begin with for each operation that takes one: written by hand where that teaches more than its schema. */
import type { Schema } from "./openapi.ts";

const BY_HAND: Record<string, unknown> = {
  "POST /checkpoints": {
    workflow_id: "docs-try-it",
    step: 1,
    label: "planned",
    state: { topic: "tides", notes: ["the moon pulls"] },
    agent_id: "researcher",
  },
  "PATCH /workflows/{workflow_id}": { ttl_seconds: 86400, pinned: false },
  "POST /agents": { agent_id: "researcher", name: "Researcher", capabilities: ["search", "summarise"] },
  "PATCH /agents/{agent_id}": { description: "Reads, and takes notes." },
  "POST /webhooks": { url: "https://example.com/hooks/snapstate", events: ["workflow.completed", "workflow.failed"] },
  "PATCH /webhooks/{webhook_id}": { events: ["checkpoint.saved"] },
  "POST /admin/accounts": { email: "team@example.com", name: "A team" },
  "POST /admin/accounts/{account_id}/keys": { label: "production", scopes: ["checkpoints:write", "checkpoints:read"] },
};

interface Components {
  schemas: Record<string, Schema>;
}

export function exampleOf(route: string, schema: Schema, components: Components): string {
  return JSON.stringify(BY_HAND[route] ?? valueOf(schema, components), null, 2);
}

function valueOf(raw: Schema, components: Components): unknown {
  const name = raw.$ref?.split("/").at(-1);
  const schema = name ? components.schemas[name]! : raw;
  const wanted = new Set(schema.required ?? []);
  if (schema.properties) {
    const pairs = Object.entries(schema.properties).filter(([key]) => wanted.has(key));
    return Object.fromEntries(pairs.map(([key, each]) => [key, valueOf(each, components)]));
  }
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  return { object: {}, array: [], integer: schema.minimum ?? 1, number: 1, boolean: true }[[schema.type].flat()[0]!] ?? "";
}
