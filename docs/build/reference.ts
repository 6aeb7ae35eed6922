/** The API reference as data: openapi.json with every $ref followed and every schema flattened to its fields. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { exampleOf } from "./example.ts";
import type { Field, Group, Operation, Parameter, Response, Schema } from "./openapi.ts";

interface Document {
  paths: Record<string, Record<string, Raw>>;
  components: { schemas: Record<string, Schema>; headers: Record<string, { description?: string }> };
}
interface Raw {
  operationId: string;
  tags?: string[];
  summary?: string;
  description?: string;
  parameters?: { in: Parameter["in"]; name: string; required?: boolean; description?: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, RawResponse>;
  security?: Record<string, string[]>[];
}
interface RawResponse {
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: Schema }>;
}

const ORDER = ["Checkpoints", "Workflows", "Agents", "Analytics", "Webhooks", "Billing", "Health", "Operators"];
const COMMON = new Set(["X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]);
const DEEPEST = 4;

export function reference(file = join(process.cwd(), "openapi.json")): Group[] {
  const document = JSON.parse(readFileSync(file, "utf8")) as Document;
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => operation(method, path, raw, document)),
  );
  const tags = [...new Set([...ORDER, ...all.map(({ tag }) => tag)])];
  return tags
    .map((tag) => ({ tag, operations: all.filter((each) => each.tag === tag).sort(byPath) }))
    .filter(({ operations }) => operations.length > 0);
}

const METHODS = ["POST", "GET", "PATCH", "PUT", "DELETE"];
function byPath(a: Operation, b: Operation): number {
  return a.path.localeCompare(b.path) || METHODS.indexOf(a.method) - METHODS.indexOf(b.method);
}

function operation(method: string, path: string, raw: Raw, document: Document): Operation {
  const { title, text, scope } = described(raw);
  const body = raw.requestBody?.content["application/json"]?.schema;
  const tag = raw.tags?.[0] ?? "Other";
  return {
    id: anchorOf(raw.operationId),
    tag: tag[0]!.toUpperCase() + tag.slice(1),
    method: method.toUpperCase(),
    path,
    title,
    text,
    scope,
    auth: Object.keys(raw.security?.[0] ?? {})[0] ?? null,
    parameters: (raw.parameters ?? []).map((each) => parameter(each, document)).sort(byPlace),
    body: body ? { fields: fieldsOf(body, document), example: exampleOf(`${method.toUpperCase()} ${path}`, body, document.components) } : null,
    responses: Object.entries(raw.responses).map(([status, each]) => response(status, each, document)),
  };
}

const PLACES = ["path", "query", "header"];
function byPlace(a: Parameter, b: Parameter): number {
  return PLACES.indexOf(a.in) - PLACES.indexOf(b.in);
}

/** `saveCheckpoint` and `save_checkpoint` are both at #save-checkpoint. */
function anchorOf(operationId: string): string {
  return operationId.replace(/([a-z])([A-Z])/g, "$1-$2").replaceAll("_", "-").toLowerCase();
}

/** A summary, or a first paragraph that is short enough for a title, or the operation's name. */
function described({ summary, description = "", operationId }: Raw) {
  const paragraphs = description.split("\n\n");
  const scope = /`([\w:]+)`/.exec(paragraphs.find((each) => each.startsWith("Scope:")) ?? "")?.[1] ?? null;
  const texts = paragraphs.filter((each) => each && !each.startsWith("Scope:"));
  const short = !summary && (texts[0] ?? "").length <= 70 && /^[^.]+\.$/.test(texts[0] ?? "");
  const words = anchorOf(operationId).replaceAll("-", " ");
  const title = summary ?? (short ? texts.shift()! : words[0]!.toUpperCase() + words.slice(1));
  return { title: title.replace(/\.$/, ""), text: texts.join("\n\n"), scope };
}

function parameter(raw: NonNullable<Raw["parameters"]>[number], document: Document): Parameter {
  const schema = resolved(raw.schema, document);
  const choices = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  return {
    in: raw.in,
    name: raw.name,
    required: raw.required ?? raw.in === "path",
    type: typeOf(raw.schema, document),
    text: withLimits(raw.description, schema, document),
    choices: choices.map(String),
  };
}

function response(status: string, raw: RawResponse, document: Document): Response {
  const schema = raw.content?.["application/json"]?.schema;
  const succeeded = status.startsWith("2");
  return {
    status: Number(status),
    text: raw.description ?? "",
    headers: Object.keys(raw.headers ?? {}).filter((name) => !COMMON.has(name)),
    fields: schema && succeeded ? fieldsOf(schema, document) : [],
  };
}

function resolved(schema: Schema, document: Document): Schema {
  const name = schema.$ref?.split("/").at(-1);
  return name ? document.components.schemas[name]! : schema;
}

/** What is left of `anyOf: [X, null]` is X, which may be null. */
function unwrapped(schema: Schema, document: Document): { schema: Schema; nullable: boolean } {
  const found = resolved(schema, document);
  const some = found.anyOf?.filter(({ type }) => type !== "null") ?? [];
  if (some.length === 1) return { schema: resolved(some[0]!, document), nullable: true };
  return { schema: found, nullable: Array.isArray(found.type) && found.type.includes("null") };
}

function typeOf(raw: Schema, document: Document): string {
  const { schema, nullable } = unwrapped(raw, document);
  const [type] = [schema.type ?? "any"].flat();
  const name = type === "array" ? `${typeOf(schema.items ?? {}, document)}[]` : (schema.format ?? type!);
  return nullable ? `${name} | null` : name;
}

function fieldsOf(raw: Schema, document: Document, depth = 0): Field[] {
  const { schema } = unwrapped(raw, document);
  const whole = (schema.allOf ?? []).flatMap((part) => fieldsOf(part, document, depth));
  const own = Object.entries(schema.properties ?? {}).map(([name, each]) =>
    field(name, each, schema.required?.includes(name) ?? false, document, depth),
  );
  return [...whole, ...own];
}

function field(name: string, raw: Schema, required: boolean, document: Document, depth: number): Field {
  const { schema } = unwrapped(raw, document);
  const inner = schema.type === "array" ? (schema.items ?? {}) : schema;
  const children = depth < DEEPEST ? fieldsOf(inner, document, depth + 1) : [];
  const text = withLimits(raw.description ?? schema.description, schema, document);
  return { name, type: typeOf(raw, document), required, text, children };
}

function withLimits(description: string | undefined, schema: Schema, document: Document): string {
  return [description, limitsOf(schema, document)].filter(Boolean).join(" ");
}

function limitsOf(schema: Schema, document: Document): string {
  const items = resolved(schema.items ?? {}, document);
  const choices = schema.enum ?? items.enum;
  const bounds = [
    choices && `One of ${choices.map((each) => `\`${String(each)}\``).join(", ")}.`,
    schema.minimum !== undefined && schema.maximum !== undefined && `${schema.minimum} to ${schema.maximum}.`,
    schema.maxLength !== undefined && `At most ${schema.maxLength} characters.`,
    schema.default !== undefined && schema.default !== false && `Default \`${String(schema.default)}\`.`,
  ];
  return bounds.filter(Boolean).join(" ");
}
