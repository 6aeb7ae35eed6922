/** A call as it is tried out: the request it comes to, the same as curl, and what came back. */
import type { Operation } from "../../build/openapi";

export interface Draft {
  server: string;
  token: string;
  values: Record<string, string>;
  body: string;
}

export interface Answer {
  status: number;
  reason: string;
  milliseconds: number;
  headers: [string, string][];
  body: string;
}

export interface Request {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** Throws a sentence for the reader when something needed is missing, or would be sent as something else. */
export function requestOf(operation: Operation, { server, token, values, body }: Draft): Request {
  const given = operation.parameters.filter(({ name }) => values[name]);
  const missing = operation.parameters.find(({ name, required }) => required && !values[name]);
  if (missing) throw new Error(`${missing.name} is needed.`);
  if (!/^https?:\/\//i.test(server)) throw new Error("The server's address begins with http:// or https://.");
  const rewritten = given.find((each) => each.in === "path" && /^\.\.?$/.test(values[each.name]!));
  if (rewritten) throw new Error(`${rewritten.name} cannot be . or ..: that would be another path.`);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));
  const query = new URLSearchParams(given.filter((each) => each.in === "query").flatMap(({ name }) => pairsOf(name, values[name]!)));
  const headers: Record<string, string> = Object.fromEntries(
    given.filter((each) => each.in === "header").map(({ name }) => [name, inHeader(values[name]!, name)]),
  );
  const key = token.trim();
  if (key && operation.auth) headers.Authorization = `Bearer ${inHeader(key, "The key", "that no key has")}`;
  if (operation.body) headers["Content-Type"] = "application/json";
  const url = `${server.replace(/\/+$/, "")}${path}${query.size > 0 ? `?${query}` : ""}`;
  return { url, method: operation.method, headers, body: operation.body ? body : undefined };
}

function inHeader(value: string, name: string, which = "that no header can hold"): string {
  if (!/^[\t\x20-\x7e]*$/.test(value)) throw new Error(`${name} has characters ${which}.`);
  return value;
}

/** `metadata` is a family of parameters: `team=red` is written as metadata.team=red. */
function pairsOf(name: string, value: string): [string, string][] {
  if (name !== "metadata") return [[name, value]];
  const at = value.indexOf("=");
  if (at < 1) throw new Error("metadata is written as key=value.");
  return [[`metadata.${value.slice(0, at)}`, value.slice(at + 1)]];
}

export async function send({ url, method, headers, body }: Request): Promise<Answer> {
  const began = performance.now();
  const response = await fetch(url, { method, headers, cache: "no-store", ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  const milliseconds = Math.round(performance.now() - began);
  return { status: response.status, reason: response.statusText, milliseconds, headers: [...response.headers], body: readable(text) };
}

/** Indented without reading numbers: what is shown is what was sent, 1.0 and 2^53 + 1 included. */
export function readable(json: string): string {
  let depth = 0;
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g);
  if (!tokens || !/^[[{]/.test(json.trim())) return json;
  let text = "";
  for (const [at, token] of tokens.entries()) {
    const opens = token === "{" || token === "[";
    const empty = (opens && /^[}\]]$/.test(tokens[at + 1] ?? "")) || (/^[}\]]$/.test(token) && /^[{[]$/.test(tokens[at - 1] ?? ""));
    if (opens) depth += 1;
    if (token === "}" || token === "]") text += `${((depth -= 1), empty) ? "" : `\n${"  ".repeat(depth)}`}${token}`;
    else if (token === ",") text += `,\n${"  ".repeat(depth)}`;
    else if (token === ":") text += ": ";
    else text += opens && !empty ? `${token}\n${"  ".repeat(depth)}` : token;
  }
  return text;
}

/** Names the key, whether one was typed in or not, and never holds it. */
export function curlOf(operation: Operation, draft: Draft): string {
  const name = operation.auth === "operator" ? "$ADMIN_SECRET" : "$SNAPSTATE_API_KEY";
  const { url, method, headers, body } = requestOf(operation, { ...draft, token: name });
  const { Authorization: key, ...others } = headers;
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}'${quoted(url)}'`,
    ...(key ? [`-H "Authorization: ${key}"`] : []),
    ...Object.entries(others).map(([header, value]) => `-H '${quoted(`${header}: ${value}`)}'`),
    ...(body === undefined ? [] : [`-d '${quoted(body)}'`]),
  ];
  return lines.join(" \\\n  ");
}

function quoted(text: string): string {
  return text.replaceAll("'", `'\\''`);
}
