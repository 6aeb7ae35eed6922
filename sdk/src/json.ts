/** Writes values as JSON.stringify would, and refuses what that would lose in silence, by its path. */

import { ValidationError } from "./errors.js";

/** Text that stands in a body as it is. */
export class JsonText {
  constructor(readonly text: string) {}
}

const MAX_DEPTH = 100;
const PLAIN_KEY = /^[^.[\]"]+$/;
const LONE_SURROGATE = /\p{Surrogate}/u;
const PLAIN = "[object Object]";

/** One more part of a path: `.b`, `[0]`, or `["x.y"]` for keys that would read as something else. */
export function join(path: string, part: string | number): string {
  if (typeof part === "number") return `${path}[${part}]`;
  return PLAIN_KEY.test(part) ? `${path}.${part}` : `${path}[${JSON.stringify(part)}]`;
}

export function isWellFormed(text: string): boolean {
  const told = (text as { isWellFormed?: () => boolean }).isWellFormed?.();
  return told ?? !LONE_SURROGATE.test(text);
}

/** The JSON text of `value`. ValidationError: with the path, under `name`, of what JSON cannot tell. */
export function encode(value: unknown, name: string): string {
  const text = new Writer(name).write(value, "");
  if (text === undefined) throw ValidationError.at(name, "must not be undefined");
  return text;
}

/** As `encode`, of an object only. */
export function encodeObject(value: unknown, name: string): string {
  const text = encode(value, name);
  if (!text.startsWith("{")) throw ValidationError.at(name, "must be an object");
  return text;
}

/** A body of these members, those that are undefined left out. */
export function encodeBody(members: Record<string, unknown>): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    parts.push(`${JSON.stringify(name)}:${value instanceof JsonText ? value.text : encode(value, name)}`);
  }
  return `{${parts.join(",")}}`;
}

/** A caller's own text of an object, checked and otherwise left alone. */
export function objectText(text: unknown, name: string): JsonText {
  if (typeof text !== "string") throw ValidationError.at(name, "must be a string of JSON");
  if (!isWellFormed(text)) throw ValidationError.at(name, "has a lone surrogate, which UTF-8 cannot tell");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw ValidationError.at(name, `is not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw ValidationError.at(name, "must be the JSON of an object");
  }
  return new JsonText(text);
}

class Writer {
  private readonly parents: object[] = [];
  private readonly parts: (string | number)[] = [];

  constructor(private readonly name: string) {}

  /** Undefined for a member that is left out. */
  write(value: unknown, key: string | number): string | undefined {
    switch (typeof value) {
      case "string":
        return this.string(value);
      case "number":
        if (!Number.isFinite(value)) this.refuse(`is ${value}, which JSON cannot tell`);
        return String(value === 0 ? 0 : value);
      case "boolean":
        return String(value);
      case "undefined":
        if (typeof key === "number") this.refuse("is undefined, which an array cannot hold: use null");
        return undefined;
      case "object":
        return value === null ? "null" : this.object(value, key);
      case "bigint":
        return this.refuse("is a BigInt: give the state as text (stateJson), or the number as a string");
      default:
        return this.refuse(`is a ${typeof value}, which JSON cannot tell`);
    }
  }

  private object(value: object, key: string | number): string | undefined {
    if (value instanceof Date && Number.isNaN(value.getTime())) this.refuse("is an invalid Date");
    if (this.parents.includes(value)) this.refuse("contains itself");
    if (this.parents.length >= MAX_DEPTH) this.refuse(`is nested deeper than ${MAX_DEPTH} levels`);
    this.parents.push(value);
    const text = this.inside(value, key);
    this.parents.pop();
    return text;
  }

  private inside(value: object, key: string | number): string | undefined {
    const { toJSON } = value as { toJSON?: unknown };
    // Asked once, and so sent as it was checked.
    if (typeof toJSON === "function") return this.write(toJSON.call(value, String(key)), key);
    return Array.isArray(value) ? this.array(value) : this.members(value);
  }

  private array(items: unknown[]): string {
    const texts: string[] = [];
    for (let index = 0; index < items.length; index += 1) {
      this.parts.push(index);
      texts.push(this.write(items[index], index) as string);
      this.parts.pop();
    }
    return `[${texts.join(",")}]`;
  }

  private members(value: object): string {
    const kind = Object.prototype.toString.call(value);
    if (kind !== PLAIN || isBoxed(value)) this.refuse(`is ${kind.slice(8, -1)}, which would lose what it holds`);
    const texts: string[] = [];
    for (const name of Object.keys(value)) {
      const written = this.string(name); // what is wrong with a name is said of its object
      this.parts.push(name);
      const text = this.write((value as Record<string, unknown>)[name], name);
      if (text !== undefined) texts.push(`${written}:${text}`);
      this.parts.pop();
    }
    return `{${texts.join(",")}}`;
  }

  private string(text: string): string {
    if (!isWellFormed(text)) this.refuse("has a lone surrogate, which UTF-8 cannot tell");
    return JSON.stringify(text);
  }

  private refuse(reason: string): never {
    throw ValidationError.at(this.parts.reduce<string>(join, this.name), reason);
  }
}

/** `new Number(1)` and its like: JSON.stringify unwraps them, nobody means to save one. */
function isBoxed(value: object): boolean {
  return typeof value.valueOf === "function" && typeof value.valueOf() !== "object";
}
