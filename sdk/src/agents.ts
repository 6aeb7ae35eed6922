/** Who works under this account: `client.agents`. */

import { ValidationError } from "./errors.js";
import { encode, encodeBody, JsonText, objectText } from "./json.js";
import { type Page, Pages } from "./pages.js";
import { query, segment, snake } from "./paths.js";
import type { Transport } from "./transport.js";
import type { CallOptions, Metadata, PageOptions, RawOption } from "./types.js";

export interface AgentFields {
  name?: string | null;
  description?: string | null;
  capabilities?: string[];
  metadata?: object;
  /** Instead of `metadata`: the text of an object, sent as it is. */
  metadataJson?: string;
}

export interface NewAgent extends AgentFields {
  agentId: string;
}

export interface Agent {
  id: string;
  agentId: string;
  name: string | null;
  description: string | null;
  capabilities: string[];
  metadata: Metadata;
  /** With `raw: true`. */
  metadataJson?: string;
  lastSeenAt: string | null;
  createdAt: string;
}

export interface AgentPage extends Page {
  agents: Agent[];
}

export class Agents {
  constructor(
    private readonly transport: Transport,
    private readonly raw: boolean,
  ) {}

  /** Registers it, or changes one that is there: what is left out stays. */
  async register(agent: NewAgent, options?: CallOptions & RawOption): Promise<Agent> {
    const { value } = await this.transport.send(
      { method: "POST", path: "/agents", body: bodyOf(agent), raw: options?.raw ?? this.raw },
      options,
    );
    return value as Agent;
  }

  /** Last seen first. */
  list(options: PageOptions & RawOption = {}): Pages<AgentPage, Agent> {
    const { signal, timeoutMs, deadlineMs, maxRetries, raw = this.raw, cursor, ...filters } = options;
    const fetchPage = async (next = cursor): Promise<AgentPage> => {
      const path = `/agents${query({ ...filters, cursor: next })}`;
      const answer = await this.transport.send(
        { method: "GET", path, raw },
        { signal, timeoutMs, deadlineMs, maxRetries },
      );
      return answer.value as AgentPage;
    };
    return new Pages(fetchPage, (page) => page.agents);
  }

  async get(agentId: string, options?: CallOptions & RawOption): Promise<Agent> {
    const { value } = await this.transport.send(
      { method: "GET", path: pathOf(agentId), raw: options?.raw ?? this.raw },
      options,
    );
    return value as Agent;
  }

  async update(agentId: string, changes: AgentFields, options?: CallOptions & RawOption): Promise<Agent> {
    const { value } = await this.transport.send(
      { method: "PATCH", path: pathOf(agentId), body: bodyOf(changes), raw: options?.raw ?? this.raw },
      options,
    );
    return value as Agent;
  }

  async delete(agentId: string, options?: CallOptions): Promise<void> {
    await this.transport.send({ method: "DELETE", path: pathOf(agentId) }, options);
  }
}

function pathOf(agentId: string): string {
  return `/agents/${segment(agentId, "agentId")}`;
}

function bodyOf(fields: AgentFields): string {
  const { metadata, metadataJson, ...rest } = fields;
  return encodeBody({ ...snaked(rest), metadata: opaque("metadata", metadata, metadataJson) });
}

/** Members under the names that the API has for them. */
export function snaked(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snake(name), value]));
}

/** An object of the user's, given as a value or as its text. Undefined when it is neither; both might not agree. */
export function opaque(name: string, value: unknown, text: unknown): JsonText | undefined {
  if (text === undefined) return value === undefined ? undefined : new JsonText(encode(value, name));
  if (value !== undefined && value !== null) throw ValidationError.at(name, `give either ${name} or ${name}Json`);
  return objectText(text, `${name}Json`);
}
