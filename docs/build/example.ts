/** A body to begin with for each operation that takes one: written by hand where that teaches more than its schema. */
import type { Schema } from "./openapi.ts";

const BY_HAND: Record<string, unknown> = {
  save_checkpoint: {
    workflow_id: "docs-try-it",
    step: 1,
    label: "planned",
    state: { topic: "tides", notes: ["the moon pulls"] },
    agent_id: "researcher",
  },
  patch_workflow: { ttl_seconds: 86400, pinned: false },
  register_agent: { agent_id: "researcher", name: "Researcher", capabilities: ["search", "summarise"] },
  change_agent: { description: "Reads, and takes notes." },
  register_webhook: { url: "https://example.com/hooks/snapstate", events: ["workflow.completed", "workflow.failed"] },
  change_webhook: { events: ["checkpoint.saved"] },
  create_account: { email: "team@example.com", name: "A team" },
  issue_key: { label: "production", scopes: ["checkpoints:write", "checkpoints:read"] },
};

interface Components {
  schemas: Record<string, Schema>;
}

export function exampleOf(operation: string, schema: Schema, components: Components): string {
  return JSON.stringify(BY_HAND[operation] ?? valueOf(schema, components), null, 2);
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
